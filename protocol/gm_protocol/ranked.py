"""The messages about ranked play."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from .base import Reply, Request


class GetLeaderboard(Request, tag="leaderboard", kw_only=True):
    """A request for a page of the leaderboard, the strongest first: ``limit`` rows after the place ``after``."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    after: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0


class LeaderboardRow(Struct, kw_only=True, frozen=True):
    """A version of a player's bot.

    ``deviation`` is the standard deviation of its rating; ``anchor``: its rating is fixed.
    """

    place: int
    player: int
    name: str
    version: int
    rating: float
    deviation: float
    anchor: bool
    games: int
    wins: int
    draws: int
    losses: int


class LeaderboardReply(Reply, kw_only=True):
    """A page of the leaderboard; the ``after`` to send for the next page, null at the end; and the number of games that
    the ratings are computed from.
    """

    leaderboard: list[LeaderboardRow]
    after: int | None
    games: int
    error: None = None
