"""What happened in a game. A game is the fold of its events, and the log keeps nothing else.

Events hold seconds charged, never instants; ``created`` is a wall time for people to read, and nothing depends on it.
Their fields are the log's: sides and terminations are words there, and properties give them as types.
"""

from __future__ import annotations

from typing import Annotated

import chess
from msgspec import Meta, Struct

from gm_protocol.endings import Ending, read_ending
from gm_protocol.messages import GameOptions
from gm_protocol.state import COLOR_NAMES, Color, Termination, side_of

#: A version of a player's bot: 0 before the first. A database's integer holds it, with much room.
Version = Annotated[int, Meta(ge=0, le=2**31 - 1)]


#: Plies after which a game is drawn whose creation does not say: as it was before that was a setting.
FORMER_MAX_PLIES = 12_000


class Event(Struct, tag_field="event", omit_defaults=True):
    """One thing that happened."""


class Created(Event, tag="created"):
    """The game began, at its start position. ``result_header`` is the result of the PGN it came from.

    A seat whose player is None is open to whoever joins first; one of ``invited`` is kept for the player named.
    ``lapses`` is after how many seconds the game is called off if it has not begun by then; None for never. ``ranked``:
    it counts for the ratings of the ``versions`` of White's and Black's bots, which are those of this moment: a player
    that begins another meanwhile plays this game for the old one. ``asked_by`` is who asked for the game by
    ``new_game``, 0 for nobody, where that keeps a seat for somebody; None where the lobby made it, and in older logs.
    ``max_plies`` is the server's limit on its length, as it was when the game began: a later setting changes nothing.
    """

    player_white: int | None
    player_black: int | None
    options: GameOptions
    created: str
    result_header: str | None = None
    invited: list[Color] = []
    lapses: float | None = None
    ranked: bool = False
    versions: tuple[Version, Version] = (0, 0)
    asked_by: int | None = None
    max_plies: Annotated[int, Meta(ge=1)] = FORMER_MAX_PLIES

    @property
    def invited_sides(self) -> list[chess.Color]:
        """The seats in ``invited``, in its order."""
        return [side_of(name) for name in self.invited]


class Loaded(Event, tag="loaded"):
    """Moves (UCI) that came with a PGN: nobody in this game made them, and no clock is charged for them."""

    moves: list[str]


class Joined(Event, tag="joined"):
    """A player took a seat that was open, or that it was invited to."""

    seat: Color
    player: int

    @property
    def side(self) -> chess.Color:
        """The seat, by its side."""
        return side_of(self.seat)


class FirstContactMade(Event, tag="heard"):
    """A seat of a game with a clock was heard from for the first time."""

    seat: Color

    @property
    def side(self) -> chess.Color:
        """The seat, by its side."""
        return side_of(self.seat)


class Sensed(Event, tag="sensed", gc=False):
    """The side to move sensed a square (None: nothing), having thought for ``seconds`` of its clock's time."""

    square: int | None
    seconds: float = 0.0


class Moved(Event, tag="moved", gc=False):
    """The side to move made a move (UCI), having thought for ``seconds`` of its clock's time.

    In reconnaissance blind chess it is the move asked for, 0000 to pass; the position says what became of it.
    """

    move: str
    seconds: float = 0.0
    offer_draw: bool = False


class Ended(Event, tag="ended"):
    """The game ended otherwise than by a move.

    ``seat``, ``asked`` and ``offer_draw`` say who asked for it in which words (a termination, or the move text that
    forfeited), so that the same request sent again is known; a timeout has none, unless the seat gave its time up
    (``asked`` is the termination then). Of a game that was called off, ``seat`` is whose player declined or withdrew; a
    log may have such an end without it.
    ``seconds`` are charged to the side to move.
    """

    termination: Termination
    seconds: float = 0.0
    seat: Color | None = None
    asked: str | None = None
    offer_draw: bool = False

    @classmethod
    def of(
        cls,
        ending: Ending,
        seconds: float = 0.0,
        *,
        seat: chess.Color | None = None,
        asked: str | None = None,
        offer_draw: bool = False,
    ) -> Ended:
        """Return the event of a game's ending so; the other fields are as above."""
        return cls(ending.termination, seconds, None if seat is None else COLOR_NAMES[seat], asked, offer_draw)

    @property
    def ending(self) -> Ending:
        """How the game ended, which was not by a victory.

        :raises ValueError: its word is that of a game that is on, as in a damaged log.
        """
        if (ending := read_ending(self.termination)) is None:
            raise ValueError(f"termination: {self.termination!r} is the end of no game")
        return ending

    @property
    def side(self) -> chess.Color | None:
        """The seat, by its side."""
        return side_of(self.seat)


AnyEvent = Created | Loaded | Joined | FirstContactMade | Sensed | Moved | Ended


def is_secret(event: AnyEvent) -> bool:
    """Whether only the side to move, and whoever may see everything, may know that it happened."""
    return type(event) is Sensed
