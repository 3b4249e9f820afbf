"""Commands to a game."""

from __future__ import annotations

import chess
from msgspec import Struct

from gm_protocol.endings import Cause, Ending, Voluntary


class Sense(Struct, frozen=True, gc=False):
    """A seat's sense of a square, by name or number; None to pass. ``ply`` and ``thought`` are as in :class:`Play`."""

    seat: chess.Color
    square: str | int | None
    ply: int | None = None
    thought: float | None = None


class Play(Struct, frozen=True, gc=False):
    """A seat's move; in reconnaissance blind chess ``0000`` passes.

    ``ply`` is the ply index at which the seat believes it acts, or None. ``thought`` is how many seconds its client
    says it has thought. ``claim_draw`` takes a draw that the position after the move allows (FIDE 9.2.1, 9.3.1).
    """

    seat: chess.Color
    text: str
    ply: int | None = None
    offer_draw: bool = False
    thought: float | None = None
    claim_draw: bool = False


class End(Struct, frozen=True, gc=False):
    """A seat's resignation, claim of a draw, or agreement to one."""

    seat: chess.Color
    cause: Voluntary
    ply: int | None = None
    thought: float | None = None

    @property
    def ending(self) -> Ending:
        """The ending of the game, if the command is accepted."""
        return Ending.by(self.cause, self.seat)


def is_resignation(command: object) -> bool:
    """Return whether a command is a resignation, which is allowed even before the opponent has joined."""
    return isinstance(command, End) and command.cause is Cause.RESIGNATION


class Join(Struct, frozen=True, gc=False):
    """A player's request for a seat: the one named, else the one it is invited to, else an open one."""

    player: int
    seat: chess.Color | None = None


class FirstContact(Struct, frozen=True, gc=False):
    """The arrival of a seat's request, of any kind, that names the game."""

    seat: chess.Color


class Flag(Struct, frozen=True, gc=False):
    """A check whether the flag of the side to move has fallen."""


class Absent(Struct, frozen=True, gc=False):
    """The end of the time in which both seats had to make first contact."""


class CallOff(Struct, frozen=True, gc=False):
    """The calling off of a game that has not begun: by a player, or (None) because its time to begin has passed."""

    player: int | None


class RunOut(Struct, frozen=True, gc=False):
    """A seat's surrender of all its time, on either side's turn: reconchess's client sends it when a bot fails."""

    seat: chess.Color
    ply: None = None


Command = Sense | Play | End | Join | FirstContact | Flag | Absent | CallOff | RunOut
