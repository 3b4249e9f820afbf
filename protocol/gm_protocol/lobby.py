"""The messages by which registered players find each other."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from .base import PlayerId, PlayerName, Reply, Request
from .options import GameOptions, GameRequest
from .state import Color, GameState

#: What a player asks for, which is drawn for one that does not.
WantedColor = Annotated[Color, Meta(description="What the player wants to play; it is drawn otherwise.")]


class Challenge(GameRequest, tag="challenge", kw_only=True):
    """Invites a registered player who is here, by name or id, to a game. Without ``color`` that is drawn."""

    opponent: PlayerId | PlayerName  #: A name or an id.
    color: WantedColor | None = None  #: The color wanted; else it is drawn.


class Seek(GameRequest, tag="seek", kw_only=True):
    """Makes a game with whoever waits for one like it; where nobody does, waits for somebody to do so."""

    color: WantedColor | None = None  #: The color wanted; else any.


#: Where a page of invitations ended. Only the server that gave it knows what it means.
InvitationPlace = Annotated[str, Meta(max_length=33)]


class ListInvitations(Request, tag="invitations", kw_only=True):
    """A page of the invitations that wait for an answer: the player's own, and those to the player.

    The last two are what the page before said of the same name; without them both lists begin anew.
    """

    limit: Annotated[int, Meta(ge=1, le=100)] = 100  #: The most rows.
    received_after: InvitationPlace | None = None  #: Where the page before ended.
    sent_after: InvitationPlace | None = None  #: Where the page before ended.


class Accept(Request, tag="accept", kw_only=True):
    """Takes the seat that is kept for the player."""

    game_id: Annotated[int, Meta(ge=0, le=2**53 - 1)]  #: The game.


class Decline(Request, tag="decline", kw_only=True):
    """Calls off a game that has not begun; without ``game_id``, the player seeks no longer."""

    game_id: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None  #: The game; left out: stop seeking.


class Settings(Request, tag="settings", kw_only=True):
    """Shows what a registered player has set, having set what is given. ``version`` is the one it has, or the next."""

    max_games: (
        Annotated[int, Meta(ge=0, le=10_000, description="How many games the player takes at a time.")] | None
    ) = None
    ranked: Annotated[bool, Meta(description="Whether the player wants ranked games.")] | None = None
    version: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None  #: The bot's version: the present one, or the next.


class Pair(GameRequest, tag="pair", kw_only=True):
    """The operator's: makes a game between two registered players who are here, and invites both."""

    white: PlayerId | PlayerName  #: A name or an id.
    black: PlayerId | PlayerName  #: A name or an id.
    ranked: Annotated[bool, Meta(description="Whether the game counts for the ratings.")] = False


class SeatReply(Reply, kw_only=True):
    """The game in which the player has its seat; all null while a seek waits."""

    game_id: int | None  #: The game.
    seat: Color | None  #: The player's seat.
    state: GameState | None  #: The game's state.
    options: GameOptions | None  #: What it is played with.
    error: None = None


class PairReply(Reply, kw_only=True):
    """The game that two players were invited to: who has ``accepted`` by now, and who has ``called_off`` the game."""

    game_id: int  #: The game.
    accepted: list[Color]  #: The seats taken so far.
    called_off: Color | None  #: The side that called it off.
    state: GameState  #: The game's state.
    options: GameOptions  #: What it is played with.
    error: None = None


class InvitationRow(Struct, kw_only=True, frozen=True):
    """A game that waits for an answer, as one of the two is shown it.

    ``opponent`` is the other one, or null where that seat is open; ``name`` its name, where it is registered; ``color``
    what the player that asks is to play. ``lapses`` is how many seconds it was given to begin in, or null.
    """

    game_id: int  #: The game.
    opponent: int | None  #: The other player; null: an open seat.
    name: str | None  #: Its name, if registered.
    color: Color  #: The player's color.
    options: GameOptions  #: What it is played with.
    ranked: bool  #: Whether it counts for ratings.
    created: str  #: UTC: 2026-11-21T04:41:00Z.
    lapses: float | None  #: Seconds from then until it expires.


class InvitationsReply(Reply, kw_only=True):
    """A page of what waits for the player's answer and of what for another's; and whether it seeks an opponent.

    The last two are what to ask for the next page with; each is left out where nothing follows.
    """

    received: list[InvitationRow]  #: Those to the player.
    sent: list[InvitationRow]  #: Those from the player.
    seeking: bool  #: Whether a seek waits.
    received_after: InvitationPlace | UnsetType = UNSET  #: What to send for the next page.
    sent_after: InvitationPlace | UnsetType = UNSET  #: What to send for the next page.
    error: None = None


class SettingsReply(Reply, kw_only=True):
    """What a registered player has set."""

    player: int  #: The player.
    name: str  #: Its name.
    max_games: int  #: As it is now.
    ranked: bool  #: As it is now.
    version: int  #: As it is now.
    error: None = None
