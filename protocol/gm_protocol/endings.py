"""The ways in which games end, as types, and the only table of their terminations on the wire.

Code compares causes and winners. :func:`termination_of` returns the termination of an :class:`Ending`, and
:func:`read_ending` parses one. The log and the files of games use the same words. A side is python-chess's bool.
``gm_recon.pgn_reading``, which may not import this package, has those of blind chess once more;
``tests/http/test_win_reasons.py`` compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, Literal, get_args

from msgspec import Struct

from .state import Result, Termination


class Cause(Enum):
    """The cause of a game's end. Causes that python-chess knows have their names from ``chess.Termination``."""

    CHECKMATE = auto()
    #: In variants where a king may be captured.
    KING_CAPTURE = auto()
    STALEMATE = auto()
    INSUFFICIENT_MATERIAL = auto()
    FIFTY_MOVES = auto()
    THREEFOLD_REPETITION = auto()
    #: The game has reached its ``max_moves``, or the server's limit.
    MOVE_LIMIT = auto()
    #: The last full turn of its ``max_turns`` was played.
    TURN_LIMIT = auto()
    #: A player claimed a draw that the rules allowed.
    DRAW_CLAIM = auto()
    AGREEMENT = auto()
    RESIGNATION = auto()
    TIMEOUT = auto()
    #: An illegal move, in a game where it loses.
    FORFEIT = auto()
    #: The game never began: an invited player declined, the inviter withdrew, or the invitation expired.
    DECLINED = auto()
    WITHDRAWN = auto()
    EXPIRED = auto()


#: The victory by the rules in a variant. The wire has one word for both.
Victory = Literal[Cause.CHECKMATE, Cause.KING_CAPTURE]

#: The causes that a player can request.
Voluntary = Literal[Cause.RESIGNATION, Cause.DRAW_CLAIM, Cause.AGREEMENT]

#: The causes that have a winner.
DECISIVE: Final = frozenset({Cause.CHECKMATE, Cause.KING_CAPTURE, Cause.RESIGNATION, Cause.TIMEOUT, Cause.FORFEIT})
#: The causes of games that never began: they have no result.
CALLED_OFF: Final = frozenset({Cause.DECLINED, Cause.WITHDRAWN, Cause.EXPIRED})


class Ending(Struct, frozen=True, gc=False):
    """The end of a game: its cause and winner, as in ``chess.Outcome``.

    :ivar winner: the side that won; None for a draw, and for a game that never began.
    :ivar claimant: the side that claimed the draw; None for all other causes.
    :raises ValueError: the winner or the claimant does not fit the cause.
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
        """The side that lost; None for none."""
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
        """The termination on the wire."""
        return TERMINATIONS[self]


_WHITE, _BLACK = True, False

#: The terminations on the wire. The side in a word is the one that acted or failed to act: the winner of a victory, the
#: loser of a resignation, a timeout or a forfeit, the claimant of a draw.
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
#: The termination of a game that has not ended.
ON: Final = "available_move"

_VICTORIES: Final[frozenset[Cause]] = frozenset(get_args(Victory))
#: The endings by termination, for each kind of victory.
_READ: Final[Mapping[Cause, Mapping[str, Ending]]] = {
    victory: {word: ending for ending, word in TERMINATIONS.items() if ending.cause not in _VICTORIES - {victory}}
    for victory in _VICTORIES
}


def termination_of(ending: Ending | None) -> Termination:
    """Return the termination on the wire for an ending; None stands for a game that has not ended."""
    return ON if ending is None else TERMINATIONS[ending]


def result_of(ending: Ending | None) -> Result:
    """Return the result of a game by its ending; "*" for a game that has not ended."""
    return "*" if ending is None else ending.result


def read_ending(word: str, victory: Victory = Cause.CHECKMATE) -> Ending | None:
    """Return the ending for a termination on the wire; None for a game that has not ended.

    :param victory: the victory by the rules in the variant that was played; the winner does not depend on it.
    :raises ValueError: there is no such termination.
    """
    if word == ON:
        return None
    try:
        return _READ[victory][word]
    except KeyError:
        raise ValueError(f"termination: {word!r:.80} is not one of PROTOCOL's terminations") from None
