"""``/api/version``: the version of reconchess that this server is compatible with."""

from __future__ import annotations

from litestar import get
from msgspec import Struct

from gmd.http.api_clients import serving
from gmd.http.errors import documented
from gmd.http.reconchess import COMPATIBLE


class Version(Struct, frozen=True):
    """The version of the reconchess package whose client plays here."""

    version: str


@get("/version", summary="The version of reconchess", guards=[serving], responses=documented())
async def version() -> Version:
    """Return the version. ``rc-connect`` refuses to play if its own differs. It takes no authorization."""
    return Version(COMPATIBLE)
