"""``/embed/7``: a game's board for a frame on any site."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get

from gmd.http.seat import GameId

from .answers import ERRORS, FINISHED, IN_PROGRESS, read_query
from .game import viewed
from .looking import look_at, with_past
from .rendering import page, policy
from .visit import FromVisit


@get("/embed/{game_id:int}", include_in_schema=False, exception_handlers=ERRORS)
async def embed(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Return a game's board, its players and links to step through it."""
    query = read_query(request)
    look = await with_past(visit, await look_at(visit, game_id, query.seat))
    view = await viewed(visit, look, query, moves=False)
    kept = FINISHED if look.over else IN_PROGRESS
    shown = page(visit, "embed.html", headers={"content-security-policy": policy("*"), **kept}, view=view)
    for name in ("x-frame-options", "cross-origin-opener-policy", *(["vary"] if look.over else [])):
        del shown.headers[name]
    return shown
