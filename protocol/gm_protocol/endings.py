"""How games end, as types, and the one table of their words on the wire.

Code compares causes and winners. :func:`termination_of` makes the wire's word of an :class:`Ending`, and
:func:`read_ending` reads it; the log and the files of games have the same words. A side is python-chess's bool.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, Literal, get_args

from msgspec import Struct

from .state import Result, Termination


class Cause(Enum):
    """Why a game ended. A cause that python-chess knows has its name from ``chess.Termination``."""

    CHECKMATE = auto()
    #: In variants where a king may be captured.
    KING_CAPTURE = auto()
    STALEMATE = auto()
    INSUFFICIENT_MATERIAL = auto()
    FIFTY_MOVES = auto()
    THREEFOLD_REPETITION = auto()
    #: The game is as long as its ``max_moves`` or the server allows.
    MOVE_LIMIT = auto()
    #: The last full turn of its ``max_turns`` was played.
    TURN_LIMIT = auto()
    #: A player claimed the draw that its rules gave it.
    DRAW_CLAIM = auto()
    AGREEMENT = auto()
    RESIGNATION = auto()
    TIMEOUT = auto()
    #: An illegal move, where that loses.
    FORFEIT = auto()
    #: A game that never began: a player who was invited declined, the inviter withdrew, or nobody answered in time.
    DECLINED = auto()
    WITHDRAWN = auto()
    EXPIRED = auto()


#: What a victory by the rules is in a variant. The wire has one word for all of them.
Victory = Literal[Cause.CHECKMATE, Cause.KING_CAPTURE]

#: The causes that a player asks for.
Voluntary = Literal[Cause.RESIGNATION, Cause.DRAW_CLAIM, Cause.AGREEMENT]

#: The causes that have a winner.
DECISIVE: Final = frozenset({Cause.CHECKMATE, Cause.KING_CAPTURE, Cause.RESIGNATION, Cause.TIMEOUT, Cause.FORFEIT})
#: The causes of a game that never began: it has no result.
CALLED_OFF: Final = frozenset({Cause.DECLINED, Cause.WITHDRAWN, Cause.EXPIRED})


class Ending(Struct, frozen=True, gc=False):
    """How a game ended, as ``chess.Outcome`` has it: why, and who won.

    :ivar winner: the side that won; None for a draw, and for a game that never began.
    :ivar claimant: the side that claimed the draw; None for all other causes.
    :raises ValueError: the cause does not go with such a winner or claimant.
    """

    cause: Cause
    winner: bool | None = None
    claimant: bool | None = None

    def __post_init__(self) -> None:
        is_won, is_claimed = self.cause in DECISIVE, self.cause is Cause.DRAW_CLAIM
        if is_won != (self.winner is not None) or is_claimed != (self.claimant is not None):
            raise ValueError(f"no game ends by {self.cause.name} with {self.winner=} and {self.claimant=}")

    @property
    def loser(self) -> bool | None:
        """The side that lost; None where none did."""
        return None if self.winner is None else not self.winner

    @property
    def called_off(self) -> bool:
        """Whether the game never began."""
        return self.cause in CALLED_OFF

    @property
    def result(self) -> Result:
        """The result on the wire and in PGN."""
        if self.winner is None:
            return "*" if self.called_off else "1/2-1/2"
        return "1-0" if self.winner else "0-1"

    @property
    def termination(self) -> Termination:
        """The word on the wire."""
        return TERMINATIONS[self]


_WHITE, _BLACK = True, False

#: The wire's word for each way in which a game can end. The side in a word is the one that acted or failed to: the
#: winner of a victory, the loser of a resignation, a timeout or a forfeit, the claimant of a draw.
TERMINATIONS: Final[Mapping[Ending, Termination]] = {
    Ending(Cause.CHECKMATE, winner=_WHITE): "victory_white",
    Ending(Cause.CHECKMATE, winner=_BLACK): "victory_black",
    Ending(Cause.KING_CAPTURE, winner=_WHITE): "victory_white",
    Ending(Cause.KING_CAPTURE, winner=_BLACK): "victory_black",
    Ending(Cause.STALEMATE): "stalemate",
    Ending(Cause.INSUFFICIENT_MATERIAL): "draw_material",
    Ending(Cause.FIFTY_MOVES): "draw_fifty_moves",
    Ending(Cause.THREEFOLD_REPETITION): "draw_repetition",
    Ending(Cause.MOVE_LIMIT): "draw_move_limit",
    Ending(Cause.TURN_LIMIT): "draw_turn_limit",
    Ending(Cause.DRAW_CLAIM, claimant=_WHITE): "taken_draw_white",
    Ending(Cause.DRAW_CLAIM, claimant=_BLACK): "taken_draw_black",
    Ending(Cause.AGREEMENT): "draw_agreed",
    Ending(Cause.RESIGNATION, winner=_BLACK): "resignation_white",
    Ending(Cause.RESIGNATION, winner=_WHITE): "resignation_black",
    Ending(Cause.TIMEOUT, winner=_BLACK): "timeout_white",
    Ending(Cause.TIMEOUT, winner=_WHITE): "timeout_black",
    Ending(Cause.FORFEIT, winner=_BLACK): "forfeit_white",
    Ending(Cause.FORFEIT, winner=_WHITE): "forfeit_black",
    Ending(Cause.DECLINED): "declined",
    Ending(Cause.WITHDRAWN): "withdrawn",
    Ending(Cause.EXPIRED): "expired",
}
#: The word for a game that has not ended.
ON: Final = "available_move"

_VICTORIES: Final[frozenset[Cause]] = frozenset(get_args(Victory))
#: What a word means, by what a victory is.
_READ: Final[Mapping[Cause, Mapping[str, Ending]]] = {
    victory: {word: ending for ending, word in TERMINATIONS.items() if ending.cause not in _VICTORIES - {victory}}
    for victory in _VICTORIES
}


def termination_of(ending: Ending | None) -> Termination:
    """Return the wire's word for the end of a game, or for a game that has not ended."""
    return ON if ending is None else TERMINATIONS[ending]


def result_of(ending: Ending | None) -> Result:
    """Return the result of a game that ended so; "*" for one that has not ended."""
    return "*" if ending is None else ending.result


def read_ending(word: str, victory: Victory = Cause.CHECKMATE) -> Ending | None:
    """Return the ending that a word of the wire stands for; None for a game that has not ended.

    :param victory: what a victory is in the variant that was played. It makes no difference to any winner.
    :raises ValueError: no termination has this name.
    """
    if word == ON:
        return None
    try:
        return _READ[victory][word]
    except KeyError:
        raise ValueError(f"termination: {word!r:.80} is not one of PROTOCOL's terminations") from None
