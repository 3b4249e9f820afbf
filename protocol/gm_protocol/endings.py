"""The ways in which games end, as types, and what programs are told of each.

Code compares causes and winners. :func:`termination_of` returns the termination of an :class:`Ending`, and
:func:`read_ending` parses one. The log and the files of games use the same words. A side is python-chess's bool.

A new termination needs its words in :data:`Termination` and :data:`SHOWN_TO_VERSION_1`, and its row in :class:`Cause`;
also in :data:`VoluntaryTermination` and :data:`Voluntary` if a request may cause it. ``gm_recon.pgn_reading``, which
may not import this package, has the reasons of reconchess.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, unique
from typing import Final, Literal, TypeGuard, cast, get_args

from msgspec import Struct

Result = Literal["1-0", "0-1", "1/2-1/2", "*"]

#: The way in which a game ended, or that it is live: :class:`Cause` explains each word.
Termination = Literal[
    "available_move",
    "victory_white",
    "victory_black",
    "stalemate",
    "taken_draw_white",
    "taken_draw_black",
    "resignation_white",
    "resignation_black",
    "timeout_white",
    "timeout_black",
    "forfeit_white",
    "forfeit_black",
    "draw_agreed",
    "draw_repetition",
    "draw_fifty_moves",
    "draw_material",
    "draw_move_limit",
    "draw_turn_limit",
    "declined",
    "withdrawn",
    "expired",
    "draw_timeout",
]

#: The terminations that ``end_game`` may request.
VoluntaryTermination = Literal[
    "taken_draw_white", "taken_draw_black", "resignation_white", "resignation_black", "draw_agreed"
]


class Traits(Struct, frozen=True, kw_only=True):
    """What is said of a cause. In a sentence, ``{winner}``, ``{loser}`` and ``{claimant}`` stand for the sides.

    :ivar word: the termination on the wire, without its side.
    :ivar side: the side in the termination: the one that acted or failed to act; None where it has none.
    :ivar words: the cause in results and tables.
    :ivar told: the sentence, where it is not "White won by" or "Draw by" and the words.
    :ivar pgn: the value of PGN's Termination tag (9.8.1 of its standard).
    :ivar called_off: whether the game never began; then it has no result.
    """

    word: str
    side: Literal["winner", "loser", "claimant"] | None = None
    words: str
    told: str = ""
    pgn: str = "normal"
    called_off: bool = False


@unique
class Cause(Enum):
    """The causes of a game's end. Causes that python-chess knows have their names from ``chess.Termination``."""

    _value_: Traits

    CHECKMATE = Traits(word="victory", side="winner", words="checkmate")
    #: In variants where a king may be captured.
    KING_CAPTURE = Traits(word="victory", side="winner", words="king capture")
    STALEMATE = Traits(word="stalemate", words="stalemate")
    INSUFFICIENT_MATERIAL = Traits(word="draw_material", words="insufficient material")
    FIFTY_MOVES = Traits(word="draw_fifty_moves", words="fifty-move rule")
    THREEFOLD_REPETITION = Traits(word="draw_repetition", words="threefold repetition")
    #: The game has reached its ``max_moves``, or the server's limit.
    MOVE_LIMIT = Traits(word="draw_move_limit", words="move limit", pgn="adjudication")
    #: The last full turn of its ``max_turns`` was played.
    TURN_LIMIT = Traits(word="draw_turn_limit", words="turn limit", pgn="adjudication")
    #: A player claimed a draw that the rules allowed.
    DRAW_CLAIM = Traits(word="taken_draw", side="claimant", words="draw claimed", told="Draw claimed by {claimant}")
    AGREEMENT = Traits(word="draw_agreed", words="agreement")
    RESIGNATION = Traits(word="resignation", side="loser", words="resignation")
    TIMEOUT = Traits(word="timeout", side="loser", words="time", told="{winner} won on time", pgn="time forfeit")
    #: A player's time is up, and the opponent has not the material to mate (FIDE 6.9).
    TIMEOUT_DRAW = Traits(
        word="draw_timeout",
        words="time against insufficient material",
        told="Draw on time against insufficient material",
        pgn="time forfeit",
    )
    #: An illegal move, in a game where it loses.
    FORFEIT = Traits(
        word="forfeit",
        side="loser",
        words="illegal move",
        told="{winner} won because of an illegal move",
        pgn="rules infraction",
    )
    #: The game never began: an invited player declined, the inviter withdrew, or the invitation expired.
    DECLINED = Traits(
        word="declined", words="declined", told="The invitation was declined", pgn="abandoned", called_off=True
    )
    WITHDRAWN = Traits(
        word="withdrawn", words="withdrawn", told="The invitation was withdrawn", pgn="abandoned", called_off=True
    )
    EXPIRED = Traits(
        word="expired", words="expired", told="The invitation has expired", pgn="abandoned", called_off=True
    )


#: The victory by the rules in a variant. The wire has one word for both.
Victory = Literal[Cause.CHECKMATE, Cause.KING_CAPTURE]

#: The causes that a player can request.
Voluntary = Literal[Cause.RESIGNATION, Cause.DRAW_CLAIM, Cause.AGREEMENT]


def is_voluntary(cause: Cause) -> TypeGuard[Voluntary]:
    """Return whether a player can request a cause."""
    return cause in get_args(Voluntary)


_NAMES: Final = {None: "", True: "White", False: "Black"}


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
        side = self.cause.value.side
        is_won, is_claimed = side in ("winner", "loser"), side == "claimant"
        if is_won != (self.winner is not None) or is_claimed != (self.claimant is not None):
            raise ValueError(f"no game ends by {self.cause.name} with {self.winner=} and {self.claimant=}")

    @classmethod
    def by(cls, cause: Cause, side: bool) -> Ending:
        """Return the ending that a side has caused: the side in its termination, if that has one."""
        match cause.value.side:
            case "winner":
                return cls(cause, winner=side)
            case "loser":
                return cls(cause, winner=not side)
            case "claimant":
                return cls(cause, claimant=side)
            case None:
                return cls(cause)

    @property
    def side(self) -> bool | None:
        """The side in the termination; None for none."""
        sides = {None: None, "winner": self.winner, "loser": self.loser, "claimant": self.claimant}
        return sides[self.cause.value.side]

    @property
    def loser(self) -> bool | None:
        """The side that lost; None for none."""
        return None if self.winner is None else not self.winner

    @property
    def called_off(self) -> bool:
        """Whether the game never began."""
        return self.cause.value.called_off

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

    @property
    def words(self) -> str:
        """Why the game ended, as in ``checkmate``: in whatever people read, the same."""
        return self.cause.value.words

    @property
    def sentence(self) -> str:
        """How the game ended: ``White won by checkmate``. It has the words."""
        whole = "{winner} won by" if self.winner is not None else "Draw by"
        return self.said(self.cause.value.told or f"{whole} {self.words}")

    def said(self, sentence: str) -> str:
        """Return a sentence of its cause's, with the names of the sides."""
        winner, loser, claimant = (_NAMES[side] for side in (self.winner, self.loser, self.claimant))
        return sentence.format(winner=winner, loser=loser, claimant=claimant)


def _termination(ending: Ending) -> Termination:
    side = "" if ending.side is None else f"_{_NAMES[ending.side].lower()}"
    return cast(Termination, ending.cause.value.word + side)


#: The terminations on the wire.
TERMINATIONS: Final[Mapping[Ending, Termination]] = {
    ending: _termination(ending) for ending in (Ending.by(cause, side) for cause in Cause for side in (True, False))
}
#: The termination of a game that has not ended.
ON: Final = "available_move"
#: What version 1 sessions are shown for terminations that came after they were specified: their results are the same.
SHOWN_TO_VERSION_1: Final[Mapping[Termination, Termination]] = {"draw_timeout": "stalemate"}

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
