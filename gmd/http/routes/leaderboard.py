"""``/api/leaderboard``: how strong everybody is who has played ranked games."""

from __future__ import annotations

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from msgspec import Struct

from gm_protocol.ranked import LeaderboardRow
from gmd.http.guests import FromGuest, serving
from gmd.http.refusals import documented


class Leaderboard(Struct, frozen=True):
    """A page of it, the strongest first.

    ``games`` is how many games the ratings are of; ``after`` what to ask for the next page by, null at the end.
    """

    leaderboard: list[LeaderboardRow]
    games: int
    after: int | None


@get(
    "/leaderboard",
    summary="How strong everybody is",
    guards=[serving],
    responses=documented(bad_request="A page that cannot be."),
    tags=["leaderboard"],
)
async def leaderboard(
    guest: FromGuest,
    limit: Annotated[int, QueryParameter(ge=1, le=100, description="How many rows.")] = 100,
    after: Annotated[int, QueryParameter(ge=0, le=2**53 - 1, description="How many rows to pass over.")] = 0,
) -> Leaderboard:
    """Ratings of versions of players' bots, with their standard deviations. It takes no authorization."""
    reply = await guest.ask("leaderboard", limit=limit, after=after)
    return Leaderboard(reply["leaderboard"], reply["games"], reply["after"])
