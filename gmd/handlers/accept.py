"""``accept``: a player takes the seat that is kept for it."""

from __future__ import annotations

from gm_protocol.lobby import Accept
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import in_game, join_answer
from gmd.play.live_games import LiveGame


@in_game(by_player=True)
async def accept(request: Accept, live: LiveGame, context: RequestContext) -> PendingReply:
    """Take the seat; a player who has taken it before is shown the game again."""
    lobby, player = context.services.lobby, context.actor
    live = await lobby.accept(request.game_id, player, context.arrived, context.session.peer)
    return join_answer(request, live, None, context)
