"""The messages for invitations, seeks and settings of registered players."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from .base import PlayerId, PlayerName, Reply, Request
from .options import GameOptions, GameRequest
from .state import Color, GameState

#: The colour that a player asks for.
WantedColor = Annotated[Color, Meta(description="The colour that the player wants; without it, it is drawn.")]


class Challenge(GameRequest, tag="challenge", kw_only=True):
    """A request to invite a registered player who is present, by name or id, to a game."""

    opponent: PlayerId | PlayerName  #: A name or an id.
    color: WantedColor | None = None  #: The color wanted; else it is drawn.


class Seek(GameRequest, tag="seek", kw_only=True):
    """A request for a game with any player who seeks the same game. If there is none, the player waits for one."""

    color: WantedColor | None = None  #: The color wanted; else any.


#: The end of a page of invitations, opaque to clients.
InvitationPlace = Annotated[str, Meta(max_length=33)]


class ListInvitations(Request, tag="invitations", kw_only=True):
    """A request for a page of the invitations that wait for an answer: those sent by the player, and those to it.

    ``received_after`` and ``sent_after`` are the values from the previous page; without them, both lists start again.
    """

    retry = "always"
    limit: Annotated[int, Meta(ge=1, le=100)] = 100  #: The most rows.
    received_after: InvitationPlace | None = None  #: Where the page before ended.
    sent_after: InvitationPlace | None = None  #: Where the page before ended.


class Accept(Request, tag="accept", kw_only=True):
    """A request to take the seat that is kept for the player."""

    retry = "always"
    game_id: Annotated[int, Meta(ge=0, le=2**53 - 1)]  #: The game.


class Decline(Request, tag="decline", kw_only=True):
    """A request to call off a game that has not begun; without ``game_id``, to stop seeking."""

    retry = "always"
    game_id: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None  #: The game; left out: stop seeking.


class Settings(Request, tag="settings", kw_only=True):
    """A request to change the given settings of a registered player, and to show all of them.

    ``version`` is the present version of the player's bot, or the next one.
    """

    retry = "always"
    max_games: (
        Annotated[int, Meta(ge=0, le=10_000, description="How many games the player takes at a time.")] | None
    ) = None
    ranked: Annotated[bool, Meta(description="Whether the player wants ranked games.")] | None = None
    version: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None  #: The bot's version.


class Pair(GameRequest, tag="pair", kw_only=True):
    """The operator's request to create a game between two registered players who are present, and to invite both."""

    white: PlayerId | PlayerName  #: A name or an id.
    black: PlayerId | PlayerName  #: A name or an id.
    ranked: Annotated[bool, Meta(description="Whether the game counts for the ratings.")] = False


class SeatReply(Reply, kw_only=True):
    """The game in which the player has a seat; all fields are null while a seek waits."""

    game_id: int | None  #: The game.
    seat: Color | None  #: The player's seat.
    state: GameState | None  #: The game's state.
    options: GameOptions | None  #: The game's options.
    error: None = None


class PairReply(Reply, kw_only=True):
    """The game that two players were invited to; ``accepted`` has the sides that have accepted, ``called_off`` the side
    that has called it off, or null.
    """

    game_id: int  #: The game.
    accepted: list[Color]  #: The seats taken so far.
    called_off: Color | None  #: The side that called it off.
    state: GameState  #: The game's state.
    options: GameOptions  #: The game's options.
    error: None = None


class InvitationRow(Struct, kw_only=True, frozen=True):
    """An invitation that waits for an answer, as shown to one of the two players.

    ``opponent`` is the other player, or null if that seat is open; ``name`` is its name if it is registered; ``color``
    is the colour of the player that asks. ``lapses`` is how many seconds it was given to begin; null in games of older
    servers.
    """

    game_id: int  #: The game.
    opponent: int | None  #: The other player; null: an open seat.
    name: str | None  #: Its name, if registered.
    color: Color  #: The player's color.
    options: GameOptions  #: The game's options.
    ranked: bool  #: Whether it counts for ratings.
    created: str  #: UTC: 2026-11-21T04:41:00Z.
    lapses: float | None  #: Seconds from created until it expires, if known.
    ahead: int | UnsetType = UNSET  #: Games the bots begin first.


class InvitationsReply(Reply, kw_only=True):
    """A page of the invitations to the player and of those that it has sent; and whether it seeks an opponent.

    ``received_after`` and ``sent_after`` are to be sent for the next page; each is left out at the end of its list.
    """

    received: list[InvitationRow]  #: Invitations to the player.
    sent: list[InvitationRow]  #: Invitations from the player.
    seeking: bool  #: Whether a seek waits.
    received_after: InvitationPlace | UnsetType = UNSET  #: For the next page; left out: the end.
    sent_after: InvitationPlace | UnsetType = UNSET  #: For the next page; left out: the end.
    error: None = None


class SettingsReply(Reply, kw_only=True):
    """The settings of a registered player."""

    player: int  #: The player.
    name: str  #: Its name.
    max_games: int  #: As it is now.
    ranked: bool  #: As it is now.
    version: int  #: As it is now.
    error: None = None
