"""``/embed/7``: a game's board for a frame on any site."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get

from gmd.http.seat import GameId
from gmd.version import VERSION

from .answers import ERRORS, FINISHED, IN_PROGRESS, entity_tag, is_known, read_query, unchanged
from .game import viewed
from .game_view import GameView
from .looking import Look, look_at, with_past
from .rendering import page, policy
from .visit import FromVisit, Visit


@get("/embed/{game_id:int}", include_in_schema=False, exception_handlers=ERRORS)
async def embed(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Return a game's board, its players and links to step through it."""
    query = read_query(request)
    look = await with_past(visit, await look_at(visit, game_id, query.seat))
    view = await viewed(visit, look, query.wanted, moves=False)
    shown = page(visit, "embed.html", headers=_headers(visit, look, view), view=view)
    for name in ("x-frame-options", "cross-origin-opener-policy", *(["vary"] if look.over else [])):
        del shown.headers[name]
    if look.over and is_known(request, shown.headers["etag"]):
        return unchanged(shown.headers)
    return shown


def _headers(visit: Visit, look: Look, view: GameView) -> dict[str, str]:
    """Return the headers of the page. It is made of the view and of what :mod:`.static_files` has."""
    framed = {"content-security-policy": policy("*")}
    if not look.over:
        return {**framed, **IN_PROGRESS}
    made_of = f"{VERSION} {visit.site.static.version} {view}"
    return {**framed, **FINISHED, "etag": entity_tag(made_of.encode())}
