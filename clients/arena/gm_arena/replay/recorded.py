"""A game as it was recorded, wherever that was: in a file, or by a daemon."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

import chess

from gm_recon import History

_TAG = re.compile(r'^\[(\w+)\s+"([^"]*)"\]', re.M)


class BadRecord(Exception):
    """There is no such game, or it cannot be read. The message says why."""


class Clocks(NamedTuple):
    """What a side's clock read in a turn of its own, in seconds, to the millisecond."""

    at_sense: float
    at_move: float


@dataclass
class Recorded:
    """A game.

    :ivar where: what it is called: a file, or a game of a daemon's.
    :ivar ending: how it ended, in words for people, or in those of whoever wrote the file; empty while it is in
        progress.
    :ivar variant: as ``PROTOCOL`` names it.
    :ivar clock: as PGN's TimeControl has it; empty where there is none, or it is not recorded.
    :ivar start: the start position, in games in which everything is seen.
    :ivar moves: those of such games, each with the comment behind it.
    :ivar left: the seconds that the clock of whoever made each of these moves had behind it; None where that is not
        recorded.
    :ivar history: the game, if it is one of reconnaissance blind chess; there are no moves then.
    :ivar clocks: of each of its turns in order, the last one that was begun included; None where they are not recorded.
    :ivar bad_move: what is wrong with the move behind the last one here; empty where the game is whole.
    """

    where: str
    white: str
    black: str
    result: str
    ending: str
    variant: str = "standard"
    clock: str = ""
    start: chess.Board = field(default_factory=chess.Board)
    moves: list[tuple[chess.Move, str]] = field(default_factory=list)
    left: list[float | None] = field(default_factory=list)
    history: History | None = None
    clocks: list[Clocks] | None = None
    bad_move: str = ""


def tags_of(pgn: str) -> dict[str, str]:
    """Return the tags of a PGN."""
    return dict(_TAG.findall(pgn))


def time_control_of(pgn: str) -> str:
    """Return the clock that a PGN was played with, as its TimeControl tag has it; empty where that says none."""
    return tags_of(pgn).get("TimeControl", "").strip("-?")
