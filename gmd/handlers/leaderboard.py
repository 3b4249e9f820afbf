"""``leaderboard``: how strong everybody is who has played ranked games."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.ranked import GetLeaderboard, LeaderboardReply, LeaderboardRow
from gmd.ranked.board import row_of
from gmd.ranked.ratings import Standing

from .call import Answer, Call, handles


@handles(GetLeaderboard)
async def leaderboard(request: GetLeaderboard, call: Call) -> Answer:
    """A page of it, as it was last computed; for anybody, whoever asks."""
    ladder = call.parts.ranked.ratings.ladder
    page = ladder.standings[request.after : request.after + request.limit]
    end = request.after + len(page)
    reply = LeaderboardReply(
        id=echo_id(request),
        leaderboard=[_row(place, standing, call) for place, standing in enumerate(page, request.after + 1)],
        after=end if page and end < len(ladder.standings) else None,
        games=ladder.games,
    )
    return Answer(reply)


def _row(place: int, standing: Standing, call: Call) -> LeaderboardRow:
    account = call.parts.gate.registry.get(standing.entrant.player)
    return row_of(place, standing, None if account is None else account.name)
