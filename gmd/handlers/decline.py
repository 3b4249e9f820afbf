"""``decline``: a player calls off a game that has not begun, or stops seeking."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.lobby import Decline
from gm_protocol.messages import StateReply
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import in_game, state_answer, viewer_of
from gmd.handlers.permission import authorise
from gmd.play.live_games import LiveGame


async def decline(request: Decline, context: RequestContext) -> PendingReply:
    """Call the game off, or show it again to a player who has; without a game, take the player out of the queue."""
    player = context.actor
    if request.game_id is not None:
        return await _call_off(request, context)
    authorise(context)
    context.services.lobby.seeking.leave(player)
    return context.reply(StateReply(id=echo_id(request), state=None))


@in_game()
async def _call_off(request: Decline, live: LiveGame, context: RequestContext) -> PendingReply:
    lobby, game_id = context.services.lobby, live.game.id
    live = await lobby.decline(game_id, context.actor, context.arrived, context.session.peer)
    return state_answer(live, viewer_of(live.game, None, context), context)
