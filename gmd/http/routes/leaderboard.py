"""``/api/leaderboard``: the ratings of all players of ranked games."""

from __future__ import annotations

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from msgspec import Struct

from gm_protocol.ranked import LeaderboardRow
from gmd.http.api_clients import FromApiClient, serving
from gmd.http.errors import documented


class LeaderboardPage(Struct, frozen=True):
    """A page of the leaderboard, the strongest first.

    ``games`` is the number of games behind the ratings; ``after`` is the value to request the next page with, null at
    the end.
    """

    leaderboard: list[LeaderboardRow]
    games: int
    after: int | None


@get(
    "/leaderboard",
    summary="The ratings of all players of ranked games",
    guards=[serving],
    responses=documented(bad_request="An invalid page."),
    tags=["leaderboard"],
)
async def leaderboard(
    client: FromApiClient,
    limit: Annotated[int, QueryParameter(ge=1, le=100, description="How many rows.")] = 100,
    after: Annotated[int, QueryParameter(ge=0, le=2**53 - 1, description="How many rows to skip.")] = 0,
) -> LeaderboardPage:
    """Return the ratings of versions of players' bots, with standard deviations. It takes no authorization."""
    reply = await client.ask("leaderboard", limit=limit, after=after)
    return LeaderboardPage(reply["leaderboard"], reply["games"], reply["after"])
