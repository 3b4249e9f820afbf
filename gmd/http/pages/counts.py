"""``/games/7/counts`` and ``/games/7.counts.svg``: how many positions the players of a finished game reckoned with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess
from litestar import Request, Response, get

from gm_protocol.errors import NotAvailable
from gmd.http.pages.answers import ERRORS, SVG, Query, file, read_query
from gmd.http.pages.counting import Count, Counts, count_steps, surprises
from gmd.http.pages.curve import HEIGHT, WIDTH, draw_counts
from gmd.http.pages.looking import Look, look_at, with_past, worked
from gmd.http.pages.rendering import page
from gmd.http.pages.replay import begins, first_number
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.pages.words import number_words, side_name
from gmd.http.seat import GameId
from gmd.play.beliefs import CAP


@dataclass(frozen=True, slots=True)
class CountRow:
    """A turn in the table: the ply that it led to, its number, its player, and the numbers in words."""

    ply: int
    number: int
    side: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Surprise:
    """A sense that showed what was little expected: its ply, its player, and what was so surprising, in a sentence."""

    ply: int
    side: str
    words: str


@dataclass(frozen=True, slots=True)
class CountsView:
    """The table, what is missing from it, in sentences, and the largest surprises."""

    rows: list[CountRow]
    missing: list[str]
    surprises: list[Surprise]


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
    missing = [_missing(counts, side) for side in chess.COLORS if not counts.is_whole(side)]
    return CountsView(rows, missing, list(map(_surprise, surprises(counts))))


def _surprise(turn: Count) -> Surprise:
    sight, before = turn.sight, turn.before or 0
    assert sight is not None, "without a sight no turn is a surprise"
    what = "no piece" if sight.piece is None else f"a {chess.piece_name(sight.piece)}"
    share = f"{round(sight.share * before):,} of {before:,} possible positions"
    return Surprise(turn.ply, side_name(turn.side), f"saw {what} on {chess.square_name(sight.square)}, as in {share}.")


def _missing(counts: Counts, side: chess.Color) -> str:
    turns = [turn for turn in counts.turns if turn.side == side]
    why = f"there were more than {CAP:,} of them" if turns and turns[-1].after is None else "it would take too long"
    return f"{side_name(side)}’s positions are not counted to the end of the game, because {why}."


@get("/games/{game_id:int}/counts", include_in_schema=False, exception_handlers=ERRORS)
async def counts(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Return the curves with the same numbers as a table; or the part with the surprises for the game's page."""
    query = read_query(request)
    look = await look_at(visit, game_id, query.seat)
    view = view_counts(await counts_of(visit, look), look.state.start_fen)
    name = "surprises.html" if query.part else "counts.html"
    return page(visit, name, game_id=game_id, view=view, width=WIDTH, height=HEIGHT)


async def counts_picture(request: Request[Any, Any, Any], visit: Visit, game_id: int, query: Query) -> Response[Any]:
    """Return the curves, with a ply marked if the query names one."""
    look = await look_at(visit, game_id, query.seat)
    counted = await counts_of(visit, look)
    ply = None if query.ply is None else look.ply(query.ply)
    return file(request, draw_counts(counted, ply).encode(), SVG, over=True)


async def counts_of(visit: Visit, look: Look) -> Counts:
    """Return the counts of a finished game.

    :raises NotAvailable: the game has none, or is not over.
    :raises Refused: the visitor's address has used up its processor time.
    """
    game_id = look.state.game_id
    if not look.variant.senses:
        raise NotAvailable(f"game {game_id}: positions are counted in reconnaissance blind chess only")
    if not look.over:
        raise NotAvailable(f"game {game_id} is not over: positions are counted once it is over")
    cache = visit.site.counts
    if (found := cache.find(game_id)) is None:
        async with cache.locks.hold(game_id):
            found = cache.find(game_id) or await _made(visit, look)
    return found


async def _made(visit: Visit, look: Look) -> Counts:
    recon = look.recon or (await with_past(visit, look)).recon
    assert recon is not None, "a finished game of rbc has a record"
    found = await worked(visit, count_steps(recon, look.state.start_fen))
    visit.site.counts.keep(look.state.game_id, found)
    return found
