"""The events of a game. A game is the fold of its events, and the log stores nothing else.

Events hold seconds charged, never points in time; ``created`` is a wall-clock time for people, and nothing depends on
it. The fields are those of the log: it writes sides and terminations as words, and properties return them as types.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import chess
from msgspec import Meta, Struct

from gm_protocol.endings import Ending, Termination, read_ending
from gm_protocol.messages import GameOptions
from gm_protocol.state import COLOR_NAMES, Color, side_of

#: A version of a player's bot: 0 before the first. It fits a database's integer with much room.
Version = Annotated[int, Meta(ge=0, le=2**31 - 1)]


#: Plies after which a game is drawn if its creation does not say: the limit from before it was a setting.
FORMER_MAX_PLIES = 12_000


#: The tags of an imported PGN that a game keeps, to be exported again.
KEPT_TAGS = ("Event", "Site", "Date", "Round", "White", "Black", "WhiteElo", "BlackElo")
#: The longest value of such a tag, in characters; a FEN has at most about a hundred.
MAX_KEPT_TAG = 200


class Event(Struct, tag_field="event", omit_defaults=True):
    """An event of a game."""

    #: Whether only the side to move, and viewers who may see everything, may know of it.
    is_secret: ClassVar[bool] = False
    #: Whether the turn before it goes on. The databases find that by its ply, which must not change.
    keeps_turn: ClassVar[bool] = False


class Created(Event, tag="created"):
    """The creation of a game, at its start position. ``options`` are those in the reply to ``new_game``.

    A seat whose player is None is open to the first player that joins; a seat in ``invited`` is kept for its player.
    ``result_header`` is the result of the PGN that the game came from. ``lapses`` is the number of seconds after which
    the game is called off if it has not begun; None for never. A ``ranked`` game counts for the ratings of the
    ``versions`` of White's and Black's bots at its creation, even if a player begins another version meanwhile.
    ``asked_by`` is the player who asked for the game by ``new_game`` (0 for an anonymous one), if that keeps a seat for
    somebody; None if the lobby made the game, and in older logs. ``max_plies`` is the server's limit on the game's
    length at its creation; a later setting does not change it. ``tags`` are those of the PGN that the game was imported
    from: Event, Site, Date, Round, White, Black, WhiteElo and BlackElo.
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
    tags: dict[str, str] = {}

    @property
    def invited_sides(self) -> list[chess.Color]:
        """The seats in ``invited``, in its order."""
        return [side_of(name) for name in self.invited]


class Loaded(Event, tag="loaded"):
    """Moves (UCI) from a PGN: no player of this game made them, and no clock is charged for them."""

    moves: list[str]


class Joined(Event, tag="joined"):
    """A player's taking of a seat that was open, or that it was invited to."""

    seat: Color
    player: int

    @property
    def side(self) -> chess.Color:
        """The seat's colour."""
        return side_of(self.seat)


class FirstContactMade(Event, tag="heard"):
    """The first request of a seat in a game with a clock."""

    keeps_turn = True
    seat: Color

    @property
    def side(self) -> chess.Color:
        """The seat's colour."""
        return side_of(self.seat)


class Sensed(Event, tag="sensed", gc=False):
    """A sense of a square (0 is a1, 63 is h8; None: a pass) by the side to move; its clock is charged ``seconds``."""

    is_secret = keeps_turn = True
    square: int | None
    seconds: float = 0.0


class Moved(Event, tag="moved", gc=False):
    """A move (UCI) of the side to move; its clock is charged ``seconds``.

    In reconnaissance blind chess it is the move requested, 0000 to pass; the position determines the move taken.
    """

    move: str
    seconds: float = 0.0
    offer_draw: bool = False
    claim_draw: bool = False


class Ended(Event, tag="ended"):
    """The end of a game by anything but a legal move.

    ``seat``, ``asked``, ``offer_draw`` and ``claim_draw`` are those of the request that ended the game, so that its
    retry is recognized; ``asked`` is a termination, or the text of the move that forfeited; a long one is ``sha256:``
    and its digest. A timeout has none of them, unless the seat gave up its time (then ``asked`` is the termination). In
    a game that was called off, ``seat`` is the seat of the player who declined or withdrew; a log may have such an end
    without it. The side to move is charged ``seconds``.
    """

    termination: Termination
    seconds: float = 0.0
    seat: Color | None = None
    asked: str | None = None
    offer_draw: bool = False
    claim_draw: bool = False

    @classmethod
    def of(
        cls,
        ending: Ending,
        seconds: float = 0.0,
        *,
        seat: chess.Color | None = None,
        asked: str | None = None,
        offer_draw: bool = False,
        claim_draw: bool = False,
    ) -> Ended:
        """Return the event of an ending; the other fields are as above."""
        color = None if seat is None else COLOR_NAMES[seat]
        return cls(ending.termination, seconds, color, asked, offer_draw, claim_draw)

    @property
    def ending(self) -> Ending:
        """How the game ended, other than by a move.

        :raises ValueError: ``termination`` is that of a game in progress, as in a damaged log.
        """
        if (ending := read_ending(self.termination)) is None:
            raise ValueError(f"termination: {self.termination!r} does not end a game")
        return ending

    @property
    def side(self) -> chess.Color | None:
        """The seat's colour."""
        return side_of(self.seat)


AnyEvent = Created | Loaded | Joined | FirstContactMade | Sensed | Moved | Ended
