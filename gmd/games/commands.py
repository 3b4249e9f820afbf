"""What a game may be asked to do."""

from __future__ import annotations

import chess
from msgspec import Struct

from gm_protocol.endings import Cause, Ending, Voluntary


class Sense(Struct, frozen=True, gc=False):
    """A seat senses a square, given by name or number; None to pass. The last two are as in :class:`Play`."""

    seat: chess.Color
    square: str | int | None
    ply: int | None = None
    thought: float | None = None


class Play(Struct, frozen=True, gc=False):
    """A seat moves; in reconnaissance blind chess ``0000`` passes.

    ``ply`` is where it believes it acts, or None. ``thought`` is how long, in seconds, it says it has thought.
    """

    seat: chess.Color
    text: str
    ply: int | None = None
    offer_draw: bool = False
    thought: float | None = None


class End(Struct, frozen=True, gc=False):
    """A seat resigns, claims a draw, or agrees to one."""

    seat: chess.Color
    cause: Voluntary
    ply: int | None = None
    thought: float | None = None

    @property
    def ending(self) -> Ending:
        """How the game ends if it may end so."""
        match self.cause:
            case Cause.RESIGNATION:
                return Ending(self.cause, winner=not self.seat)
            case Cause.DRAW_CLAIM:
                return Ending(self.cause, claimant=self.seat)
            case Cause.AGREEMENT:
                return Ending(self.cause)


def is_resignation(command: object) -> bool:
    """Whether a seat gives the game up, which it may also before its opponent is there."""
    return isinstance(command, End) and command.cause is Cause.RESIGNATION


class Join(Struct, frozen=True, gc=False):
    """A player wants a seat: the one named, else the one it is invited to, else an open one."""

    player: int
    seat: chess.Color | None = None


class FirstContact(Struct, frozen=True, gc=False):
    """A seat has sent a request, of whatever kind, that names the game."""

    seat: chess.Color


class Flag(Struct, frozen=True, gc=False):
    """Time has passed: whose flag has fallen?"""


class Absent(Struct, frozen=True, gc=False):
    """The time for both seats to be heard from has passed."""


class CallOff(Struct, frozen=True, gc=False):
    """A game that has not begun is not to begin: a player says so, or, where it is None, the time for it has passed."""

    player: int | None


class RunOut(Struct, frozen=True, gc=False):
    """A seat gives up all the time it has, whoever's turn it is: what reconchess's client does where a bot fails."""

    seat: chess.Color
    ply: None = None


Command = Sense | Play | End | Join | FirstContact | Flag | Absent | CallOff | RunOut
