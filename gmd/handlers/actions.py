"""``actions``: what a player may do now."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import ActionsReply, GetActions
from gm_protocol.state import side_of
from gmd.games import views

from .call import Answer, Call, actor_of, handles
from .show import find


@handles(GetActions)
async def actions(request: GetActions, call: Call) -> Answer:
    """Its moves on its turn, and in rbc its senses; null off it."""
    player = actor_of(request, call)
    live = await find(request.game_id, player, call)
    seat = live.game.seat_of(player, side_of(request.seat))
    call.viewer = views.VIEWER_IN[seat]
    senses, moves = views.actions(live.game, call.viewer)
    reply = ActionsReply(id=echo_id(request), sense_actions=senses, move_actions=moves)
    return Answer(reply, live.commit_for(call.viewer))
