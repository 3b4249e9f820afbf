"""``leaderboard``: the ratings of all who have played ranked games."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.ranked import GetLeaderboard, LeaderboardReply, LeaderboardRow
from gmd.handlers.context import PendingReply, RequestContext
from gmd.lobby.leaderboard import row_of
from gmd.lobby.ratings import LeaderboardEntry


async def leaderboard(request: GetLeaderboard, context: RequestContext) -> PendingReply:
    """List a page of the leaderboard, as last computed; it is public."""
    ladder = context.services.ranked.ratings.ladder
    page = ladder.entries[request.after : request.after + request.limit]
    end = request.after + len(page)
    reply = LeaderboardReply(
        id=echo_id(request),
        leaderboard=[_row(place, entry, context) for place, entry in enumerate(page, request.after + 1)],
        after=end if page and end < len(ladder.entries) else None,
        games=ladder.games,
    )
    return context.reply(reply)


def _row(place: int, entry: LeaderboardEntry, context: RequestContext) -> LeaderboardRow:
    account = context.services.authenticator.registry.get(entry.entrant.player)
    return row_of(place, entry, None if account is None else account.name)
