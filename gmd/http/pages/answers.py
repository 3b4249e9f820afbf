"""Answers about games: pages and files, with the headers that say who may keep them.

A game that is over never changes, and everybody sees the same of it. A game in progress is kept nowhere.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, TypeVar

import chess
import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.status_codes import HTTP_304_NOT_MODIFIED
from msgspec import Meta, Struct

from gm_protocol.choices import with_choices
from gm_protocol.errors import BadRequest, GmError
from gm_protocol.state import Color
from gmd.handlers.in_process import Refused
from gmd.http.errors import refused
from gmd.http.pages.counting import Kind
from gmd.http.pages.drawing import MAX_SIZE, MIN_SIZE, USUAL_SIZE
from gmd.http.pages.error_pages import http_page, refusal_anywhere, wants_page
from gmd.http.pages.game_view import Wanted
from gmd.http.pages.picture_view import View

#: Headers of answers about games that are over, and about games in progress. A finished game is kept for a few minutes
#: only without asking again, because a server without a data directory begins anew with game 1.
FINISHED = {"cache-control": "public, max-age=300"}
IN_PROGRESS = {"cache-control": "no-store", "vary": "Cookie"}
SVG = "image/svg+xml"
#: Headers of files. A picture has styles of its own and no script, and any site may show it.
_FILES = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "cross-origin-resource-policy": "cross-origin",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}


_Fields = TypeVar("_Fields", bound=Struct)


class Query(Struct, frozen=True):
    """What the query of an address about a game may hold.

    :ivar belief: in a finished game of reconnaissance blind chess, the pieces of which each side's belief is wanted.
    :ivar part: whether a script asks for the part of the page that changes from ply to ply.
    """

    ply: Annotated[int, Meta(ge=0, le=10**9)] | None = None
    view: View | None = None
    flip: bool | None = None
    size: Annotated[int, Meta(ge=MIN_SIZE, le=MAX_SIZE)] = USUAL_SIZE
    belief: Kind | None = None
    part: bool = False

    @property
    def wanted(self) -> Wanted:
        """What the visitor wants to see, where everybody gets the same."""
        return self.wanted_from(None)

    def wanted_from(self, seat: chess.Color | None) -> Wanted:
        """Return what the visitor wants to see: by default from the bottom of its own seat."""
        usual = seat == chess.BLACK
        return Wanted(self.ply, self.view, usual if self.flip is None else self.flip, usual, self.belief)

    @property
    def seat(self) -> Color | None:
        """The seat to look from, for a visitor who holds both."""
        return None if self.view == "truth" else self.view


def read_query(request: Request[Any, Any, Any]) -> Query:
    """Return a request's query about a game.

    :raises BadRequest: a value cannot be used.
    """
    return read_fields(request, Query)


def read_fields(request: Request[Any, Any, Any], kind: type[_Fields]) -> _Fields:
    """Return a request's query as a struct. An empty value counts as left out, and unknown names are ignored.

    :raises BadRequest: a value cannot be used.
    """
    names = (field.name for field in msgspec.structs.fields(kind))
    given = {name: value for name in names if (value := request.query_params.get(name))}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        what, _, where = with_choices(error, kind).rpartition(" - at `$.")
        raise BadRequest(f"{where.rstrip('`')}: {what[:1].lower()}{what[1:]}") from None


def file(
    request: Request[Any, Any, Any],
    content: bytes,
    media_type: str,
    *,
    over: bool,
    name: str = "",
    telling: bytes | None = None,
) -> Response[Any]:
    """Return a file about a game; without its content if the client has it already.

    :param over: whether the game is over.
    :param telling: a part of the content that differs whenever the content does; None for all of it.
    :param name: the name under which a browser saves the file; empty to show it.
    """
    headers = _FILES | (FINISHED if over else IN_PROGRESS)
    if name:
        headers["content-disposition"] = f'attachment; filename="{name}"'
    if over:
        headers["etag"] = entity_tag(content if telling is None else telling)
        if is_known(request, headers["etag"]):
            return unchanged(headers)
    return Response(content, media_type=media_type, headers=headers)


def entity_tag(content: bytes) -> str:
    """Return the entity tag of some content: a weak one, since the content may be compressed."""
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def is_known(request: Request[Any, Any, Any], tag: str) -> bool:
    """Return whether a client has the content with an entity tag."""
    known = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    return tag.removeprefix("W/") in known or known == ["*"]


def unchanged(headers: dict[str, str]) -> Response[Any]:
    """Return the answer to a client that has the content already."""
    return Response(None, status_code=HTTP_304_NOT_MODIFIED, headers=headers)


def _http_anywhere(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    return http_page(request, error) if wants_page(request) else refused(request, error)


#: How routes that serve files as well as pages answer errors: programs get JSON.
ERRORS: dict[Any, Any] = {GmError: refusal_anywhere, Refused: refusal_anywhere, HTTPException: _http_anywhere}
