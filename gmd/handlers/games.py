"""``games``: a page of games, newest first."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import GamesReply, ListGames
from gmd.event_log.interface import GameQuery
from gmd.games.views import for_version_1
from gmd.handlers.context import PendingReply, RequestContext


async def games(request: ListGames, context: RequestContext) -> PendingReply:
    """List all games, or those of a player, a status or a variant."""
    query = GameQuery(context.player, request.status, request.variant, request.before, request.limit + 1)
    rows = await context.services.arbiter.log.rows(query, context.session.peer)
    more = len(rows) > request.limit
    rows = rows[: request.limit]
    if not context.session.strict:
        rows = [for_version_1(row) for row in rows]
    return context.reply(GamesReply(id=echo_id(request), games=rows, before=rows[-1].game_id if more else None))
