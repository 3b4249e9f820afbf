"""``move``: a seat's move."""

from __future__ import annotations

from gm_protocol.errors import BadRequest
from gm_protocol.messages import MakeMove
from gmd.games.game import Game, Play
from gmd.games.rbc import PASS
from gmd.games.views import viewer_in

from .call import Answer, Call, actor_of, handles
from .show import find, move_answer


@handles(MakeMove)
async def move(request: MakeMove, call: Call) -> Answer:
    """Play it, or show again what came of it."""
    player = actor_of(request, call)
    table = await find(request.game_id, player, call)
    seat = table.game.seat_of(player, request.seat, request.ply)
    call.viewer = viewer_in(seat)
    text = _text(request, table.game)
    outcome = call.arbiter.act(table, Play(seat, text, request.ply, request.offer_draw), call.arrived)
    if outcome.refusal is not None:
        raise outcome.refusal
    return move_answer(request, table, player, call, shown=outcome.shown)


def _text(request: MakeMove, game: Game) -> str:
    if request.move is not None:
        return request.move
    if game.open:
        raise BadRequest(
            f"move: null passes, which {game.options.variant} has no use for; send SAN (Nf3) or UCI (g1f3)"
        )
    return PASS
