"""``sense``: a seat's look at a part of the board."""

from __future__ import annotations

from gm_protocol.messages import MakeSense
from gmd.games.commands import Sense
from gmd.games.views import VIEWER_IN

from .call import Answer, Call, actor_of, handles
from .show import find, sense_answer


@handles(MakeSense)
async def sense(request: MakeSense, call: Call) -> Answer:
    """Sense, or show again what was seen."""
    player = actor_of(request, call)
    table = await find(request.game_id, player, call)
    seat = table.game.seat_of(player, request.seat, request.ply)
    call.viewer = VIEWER_IN[seat]
    outcome = call.parts.arbiter.act(table, Sense(seat, request.square, request.ply, request.thought), call.arrived)
    if outcome.refusal is not None:
        raise outcome.refusal
    return sense_answer(request, table, player, call, shown=outcome.shown)
