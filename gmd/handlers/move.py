"""``move``: a seat's move."""

from __future__ import annotations

from gm_protocol.messages import MakeMove
from gmd.games.game import Play

from .call import Answer, Call, actor_of, handles
from .show import find, state_answer


@handles(MakeMove)
async def move(request: MakeMove, call: Call) -> Answer:
    """Play it, or show again what came of it."""
    player = actor_of(request, call)
    table = await find(request.game_id, player, call)
    seat = table.game.seat_of(player, request.seat, request.ply)
    outcome = call.arbiter.act(table, Play(seat, request.move, request.ply, request.offer_draw), call.arrived)
    if outcome.refusal is not None:
        raise outcome.refusal
    return state_answer(request, table, player, call, shown=outcome.shown)
