"""The messages about ranked play."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from .base import Reply, Request

#: A rating's 95 % interval reaches so many standard deviations to each side of it.
INTERVAL = 1.96


class GetLeaderboard(Request, tag="leaderboard", kw_only=True):
    """A request for a page of the leaderboard, the strongest first: ``limit`` rows after the place ``after``."""

    retry = "always"
    limit: Annotated[int, Meta(ge=1, le=100)] = 100  #: The most rows.
    after: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0  #: How many rows to skip.


class LeaderboardRow(Struct, kw_only=True, frozen=True):
    """A version of a player's bot.

    ``deviation`` is the standard deviation of its rating; ``anchor``: its rating is fixed.
    """

    place: int  #: 1: the highest rating.
    player: int  #: The player.
    name: str  #: Its name.
    version: int  #: Of the player's bot.
    rating: float  #: On Elo's scale.
    deviation: float  #: Its standard deviation.
    anchor: bool  #: Whether the rating is fixed.
    games: int  #: Ranked games that have ended.
    wins: int  #: Of these.
    draws: int  #: Of these.
    losses: int  #: Of these.


class LeaderboardReply(Reply, kw_only=True):
    """A page of the leaderboard; the ``after`` to send for the next page, null at the end; and the number of games that
    the ratings are computed from.
    """

    leaderboard: list[LeaderboardRow]  #: The page.
    after: int | None  #: For the next page; null: the end.
    games: int  #: Games the ratings are computed from.
    error: None = None
