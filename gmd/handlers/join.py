"""``join``: a player takes a seat."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import Join, JoinReply
from gm_protocol.state import side_of
from gmd.games import commands
from gmd.games.game import seat_name
from gmd.games.views import Viewer

from .call import Answer, Call, actor_of, handles
from .show import find, names_in, state_of, viewer_of


@handles(Join)
async def join(request: Join, call: Call) -> Answer:
    """Take it; or show the game again to whoever has it."""
    player = actor_of(request, call)
    live, seat = await find(request.game_id, player, call), side_of(request.seat)
    decision = call.services.arbiter.join(live, commands.Join(player, seat), call.arrived)
    if decision.refusal is not None:
        raise decision.refusal
    if call.counts_as_contact:
        call.services.lobby.ready(live, player, call.arrived)
    call.viewer = viewer_of(live.game, player, seat, call, both=Viewer.WHITE)
    state = state_of(live, player, call, brief=request.brief)
    reply = JoinReply(
        id=echo_id(request),
        seat=request.seat or seat_name(live.game.seats(player)[0]),
        state=state,
        options=live.game.options,
        names=names_in(state, call),
    )
    return Answer(reply, live.commit_for(call.viewer))
