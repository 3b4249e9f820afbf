"""``/games/7/counts`` and ``/games/7.counts.svg``: how many positions the players of a finished game reckoned with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess
from litestar import Request, Response, get

from gm_protocol.errors import NotAvailable
from gmd.http.pages.answers import ERRORS, SVG, Query, file, read_query
from gmd.http.pages.counting import CAP, Counts, count_steps
from gmd.http.pages.curve import HEIGHT, WIDTH, draw_counts
from gmd.http.pages.looking import Look, look_at, with_past, worked
from gmd.http.pages.rendering import page
from gmd.http.pages.replay import begins, first_number
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.pages.words import side_name
from gmd.http.seat import GameId


@dataclass(frozen=True, slots=True)
class CountRow:
    """A turn in the table: the ply that it led to, its number, its player, and the numbers in words."""

    ply: int
    number: int
    side: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CountsView:
    """The table, and what is missing from it, in sentences."""

    rows: list[CountRow]
    missing: list[str]


def view_counts(counts: Counts, start_fen: str) -> CountsView:
    """Return the table of a game's counts."""
    offset, first = 0 if begins(start_fen) else 1, first_number(start_fen)
    rows = [
        CountRow(
            turn.ply,
            first + (turn.ply - 1 + offset) // 2,
            side_name(turn.side),
            number_words(turn.before),
            number_words(turn.after),
        )
        for turn in counts.turns
    ]
    return CountsView(rows, [_missing(counts, side) for side in chess.COLORS if not counts.is_whole(side)])


def number_words(number: int | None) -> str:
    """Return a number of positions as people read it."""
    return f"more than {CAP:,}" if number is None else f"{number:,}"


def _missing(counts: Counts, side: chess.Color) -> str:
    turns = [turn for turn in counts.turns if turn.side == side]
    why = f"there were more than {CAP:,} of them" if turns and turns[-1].after is None else "it would take too long"
    return f"{side_name(side)}’s positions are not counted to the end of the game, because {why}."


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
