"""``accept``: a player takes the seat that is kept for it."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.lobby import Accept
from gm_protocol.messages import JoinReply
from gmd.games.game import seat_name
from gmd.games.views import Viewer
from gmd.requests.call import Answer, Call, actor_of
from gmd.requests.show import find, names_in, state_of, viewer_of


async def accept(request: Accept, call: Call) -> Answer:
    """Take it; or show the game again to whoever has."""
    player = actor_of(request, call)
    await find(request.game_id, player, call)
    live = call.live = await call.services.lobby.accept(request.game_id, player, call.arrived, call.peer)
    if call.counts_as_contact:
        call.services.lobby.ready(live, player, call.arrived)
    call.viewer = viewer_of(live.game, player, None, call, both=Viewer.WHITE)
    state = state_of(live, player, call, brief=request.brief)
    reply = JoinReply(
        id=echo_id(request),
        seat=seat_name(live.game.seats(player)[0]),
        state=state,
        options=live.game.options,
        names=names_in(state, call),
    )
    return Answer(reply, live.commit_for(call.viewer))
