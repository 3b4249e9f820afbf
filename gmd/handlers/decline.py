"""``decline``: a game that has not begun is not to begin; or a player seeks no longer."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.lobby import Decline
from gm_protocol.messages import StateReply
from gmd.requests.call import Answer, Call, actor_of, authorise
from gmd.requests.show import find, state_answer, viewer_of


async def decline(request: Decline, call: Call) -> Answer:
    """Call it off; or show the game again to whoever has."""
    player = actor_of(request, call)
    if request.game_id is None:
        authorise(player, call)
        call.services.lobby.seeking.leave(player)
        return Answer(StateReply(id=echo_id(request), state=None))
    await find(request.game_id, player, call)
    live = call.live = await call.services.lobby.decline(request.game_id, player, call.arrived, call.peer)
    call.viewer = viewer_of(live.game, player, None, call)
    return state_answer(request, live, player, call)
