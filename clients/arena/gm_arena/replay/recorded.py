"""A game as it was recorded, wherever that was: in a file, or by a daemon."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import chess

from gmd.games.recon import History


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
    :ivar ending: a termination of ``PROTOCOL``, or the words of whoever wrote the file; empty where it is on.
    :ivar variant: as ``PROTOCOL`` names it.
    :ivar clock: as PGN's TimeControl has it; empty where there is none, or it is not recorded.
    :ivar start: the start position, in games in which everything is seen.
    :ivar moves: those of such games, each with the comment behind it.
    :ivar left: the seconds that the clock of whoever made each of these moves had behind it; None where that is not
        recorded.
    :ivar history: the game, if it is one of reconnaissance blind chess; there are no moves then.
    :ivar clocks: of each of its turns in order, the last one that was begun included; None where they are not recorded.
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
