"""The numbers of positions that the players of a finished game had to reckon with: as a table, and in words."""

from __future__ import annotations

from dataclasses import dataclass

import chess

from .counting import CAP, Counts
from .replay import begins, first_number
from .words import side_name


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
