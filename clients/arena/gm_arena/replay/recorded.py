"""A recorded game, from a file or from a daemon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import chess

from gm_recon import History


class BadRecord(Exception):
    """There is no such game, or it cannot be read. The message says why."""


class Clocks(NamedTuple):
    """A side's clock in one of its turns, in seconds, to the millisecond."""

    at_sense: float
    at_move: float


@dataclass
class Recorded:
    """A recorded game.

    :ivar where: the game's name for people: a file, or a game of a daemon.
    :ivar ending: how it ended, in words for people or in the file's own words; empty while it is in progress.
    :ivar variant: as ``PROTOCOL`` names it.
    :ivar clock: as in PGN's TimeControl; empty where there is none, or it is not recorded.
    :ivar start: the start position, in games without hidden information.
    :ivar moves: the moves of such games, each with the comment after it.
    :ivar left: the seconds on the mover's clock after each of these moves; None where that is not recorded.
    :ivar history: the game, if it is reconnaissance blind chess; there are no moves then.
    :ivar clocks: the clocks of its turns in order, including the last one begun; None where they are not recorded.
    :ivar bad_move: the error of the move after the last one here; empty where the game is whole.
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


def time_control_of(headers: Mapping[str, str]) -> str:
    """Return the clock of a PGN, as its TimeControl tag has it; empty where it has none."""
    return headers.get("TimeControl", "").strip("-?")
