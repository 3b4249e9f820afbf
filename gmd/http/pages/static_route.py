"""``/static/VERSION/FILE``: the static files."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter

from gmd.http.backend import FromDaemon

from .site import site_of

#: Headers of every static file, beside the one that says how long it may be kept.
HEADERS = {"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"}


@get("/static/{version:str}/{file:path}", include_in_schema=False)
async def static_file(
    backend: FromDaemon, version: Annotated[str, PathParameter()], file: Annotated[str, PathParameter()]
) -> Response[Any]:
    """Return a static file. Under the address of another version it is the present one, and is not to be kept."""
    static = site_of(backend).static
    found = static.find(file.lstrip("/"))
    if found is None:
        raise NotFoundException(f"static: there is no file {file}")
    kept = "public, max-age=31536000, immutable" if version == static.version else "no-cache"
    return Response(found.content, media_type=found.media_type, headers={"cache-control": kept, **HEADERS})
