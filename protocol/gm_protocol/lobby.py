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

    opponent: PlayerId | PlayerName
    color: WantedColor | None = None


class Seek(GameRequest, tag="seek", kw_only=True):
    """Makes a game with whoever waits for one like it; where nobody does, waits for somebody to do so."""

    color: WantedColor | None = None


#: Where a page of invitations ended. Only the server that gave it knows what it means.
InvitationPlace = Annotated[str, Meta(max_length=33)]


class ListInvitations(Request, tag="invitations", kw_only=True):
    """A page of the invitations that wait for an answer: the player's own, and those to the player.

    The last two are what the page before said of the same name; without them both lists begin anew.
    """

    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    received_after: InvitationPlace | None = None
    sent_after: InvitationPlace | None = None


class Accept(Request, tag="accept", kw_only=True):
    """Takes the seat that is kept for the player."""

    game_id: Annotated[int, Meta(ge=0, le=2**53 - 1)]


class Decline(Request, tag="decline", kw_only=True):
    """Calls off a game that has not begun; without ``game_id``, the player seeks no longer."""

    game_id: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None


class Settings(Request, tag="settings", kw_only=True):
    """Shows what a registered player has set, having set what is given. ``version`` is the one it has, or the next."""

    max_games: (
        Annotated[int, Meta(ge=0, le=10_000, description="How many games the player takes at a time.")] | None
    ) = None
    ranked: Annotated[bool, Meta(description="Whether the player wants ranked games.")] | None = None
    version: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None


class Pair(GameRequest, tag="pair", kw_only=True):
    """The operator's: makes a game between two registered players who are here, and invites both."""

    white: PlayerId | PlayerName
    black: PlayerId | PlayerName
    ranked: Annotated[bool, Meta(description="Whether the game counts for the ratings.")] = False


class SeatReply(Reply, kw_only=True):
    """The game in which the player has its seat; all null while a seek waits."""

    game_id: int | None
    seat: Color | None
    state: GameState | None
    options: GameOptions | None
    error: None = None


class PairReply(Reply, kw_only=True):
    """The game that two players were invited to: who has ``accepted`` by now, and who has ``called_off`` the game."""

    game_id: int
    accepted: list[Color]
    called_off: Color | None
    state: GameState
    options: GameOptions
    error: None = None


class InvitationRow(Struct, kw_only=True, frozen=True):
    """A game that waits for an answer, as one of the two is shown it.

    ``opponent`` is the other one, or null where that seat is open; ``name`` its name, where it is registered; ``color``
    what the player that asks is to play. ``lapses`` is how many seconds it was given to begin in, or null.
    """

    game_id: int
    opponent: int | None
    name: str | None
    color: Color
    options: GameOptions
    ranked: bool
    created: str
    lapses: float | None


class InvitationsReply(Reply, kw_only=True):
    """A page of what waits for the player's answer and of what for another's; and whether it seeks an opponent.

    The last two are what to ask for the next page with; each is left out where nothing follows.
    """

    received: list[InvitationRow]
    sent: list[InvitationRow]
    seeking: bool
    received_after: InvitationPlace | UnsetType = UNSET
    sent_after: InvitationPlace | UnsetType = UNSET
    error: None = None


class SettingsReply(Reply, kw_only=True):
    """What a registered player has set."""

    player: int
    name: str
    max_games: int
    ranked: bool
    version: int
    error: None = None
