"""``sense``: a seat's look at a part of the board."""

from __future__ import annotations

from gm_protocol.messages import MakeSense
from gm_protocol.state import side_of
from gmd.games.commands import Sense
from gmd.games.views import VIEWER_IN

from .call import Answer, Call, actor_of, handles
from .show import find, sense_answer


@handles(MakeSense)
async def sense(request: MakeSense, call: Call) -> Answer:
    """Sense, or show again what was seen."""
    player = actor_of(request, call)
    live = await find(request.game_id, player, call)
    seat = live.game.seat_of(player, side_of(request.seat), request.ply)
    call.viewer = VIEWER_IN[seat]
    decision = call.services.arbiter.act(live, Sense(seat, request.square, request.ply, request.thought), call.arrived)
    if decision.refusal is not None:
        raise decision.refusal
    return sense_answer(request, live, player, call, shown=decision.shown)
