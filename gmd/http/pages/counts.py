"""``/games/7/counts`` and ``/games/7.counts.svg``: how many positions the players of a finished game reckoned with."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get

from gm_protocol.errors import NotAvailable
from gmd.http.seat import GameId

from .answers import ERRORS, SVG, Query, file, read_query
from .counting import Counts, count_steps
from .counts_view import view_counts
from .curve import HEIGHT, WIDTH, draw_counts
from .looking import Look, look_at, with_past, worked
from .rendering import page
from .visit import FromVisit, Visit


@get("/games/{game_id:int}/counts", include_in_schema=False, exception_handlers=ERRORS)
async def counts(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Return the curves with the same numbers as a table."""
    query = read_query(request)
    look, counted = await _counted(visit, game_id, query)
    view = view_counts(counted, look.state.start_fen)
    return page(visit, "counts.html", game_id=game_id, view=view, width=WIDTH, height=HEIGHT)


async def counts_picture(request: Request[Any, Any, Any], visit: Visit, game_id: int, query: Query) -> Response[Any]:
    """Return the curves, with a ply marked if the query names one."""
    look, counted = await _counted(visit, game_id, query)
    ply = None if query.ply is None else look.ply(query.ply)
    return file(request, draw_counts(counted, ply).encode(), SVG, over=True)


async def _counted(visit: Visit, game_id: int, query: Query) -> tuple[Look, Counts]:
    """Return a finished game and its counts.

    :raises NotAvailable: the game has none, or is not over.
    :raises Refused: there is no such game, or the visitor's address has used up its processor time.
    """
    look = await look_at(visit, game_id, query.seat)
    if not look.variant.senses:
        raise NotAvailable(f"game {game_id}: positions are counted in reconnaissance blind chess only")
    if not look.over:
        raise NotAvailable(f"game {game_id} is not over: positions are counted once it is over")
    cache = visit.site.counts
    if (found := cache.find(game_id)) is None:
        async with cache.locks.hold(game_id):
            found = cache.find(game_id) or await _made(visit, look)
    return look, found


async def _made(visit: Visit, look: Look) -> Counts:
    recon = (await with_past(visit, look)).recon
    assert recon is not None, "a finished game of rbc has a record"
    found = await worked(visit, count_steps(recon, look.state.start_fen))
    visit.site.counts.keep(look.state.game_id, found)
    return found
