"""``actions``: what a player may do now."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import ActionsReply, GetActions
from gmd.games import views
from gmd.requests.call import Answer, Call, actor_of
from gmd.requests.show import find


async def actions(request: GetActions, call: Call) -> Answer:
    """Its moves on its turn, and in rbc its senses; null off it."""
    player = actor_of(request, call)
    live = await find(request.game_id, player, call)
    seat = live.game.seat_of(player, request.seat)
    call.viewer = views.VIEWER_IN[seat]
    senses, moves = views.actions(live.game, call.viewer)
    reply = ActionsReply(id=echo_id(request), sense_actions=senses, move_actions=moves)
    return Answer(reply, live.commit_for(call.viewer))
