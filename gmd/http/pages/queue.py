"""``GET /games/7/queue``: the place of a game in the queue of a busy bot, as JSON for the script of its page."""

from __future__ import annotations

from typing import Any

from litestar import Response, get

from gmd.http.pages.answers import ERRORS, IN_PROGRESS
from gmd.http.pages.looking import Look, look_at
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.seat import GameId


@get("/games/{game_id:int}/queue", include_in_schema=False, exception_handlers=ERRORS)
async def queue(visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Return how many games the bot begins before the visitor's, as ``ahead``; null if the game waits for no bot."""
    return Response({"ahead": games_ahead(visit, await look_at(visit, game_id))}, headers=IN_PROGRESS)


def games_ahead(visit: Visit, look: Look) -> int | None:
    """Return how many games the visitor's opponent, a busy bot, begins before this one; None if it is no such bot."""
    state = look.state
    if state.phase != "open" or look.seat is None:
        return None
    opponent = state.player_black if look.seat else state.player_white
    return visit.backend.services.roster.ahead(opponent, state.game_id)
