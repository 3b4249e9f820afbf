"""``move``: a seat's move."""

from __future__ import annotations

from gm_protocol.errors import BadRequest
from gm_protocol.messages import MakeMove
from gmd.games.commands import Play
from gmd.games.game import Game
from gmd.games.rbc import PASS
from gmd.games.views import VIEWER_IN

from .call import Answer, Call, actor_of, handles
from .show import find, move_answer, state_answer


@handles(MakeMove)
async def move(request: MakeMove, call: Call) -> Answer:
    """Play it, or show again what came of it."""
    player = actor_of(request, call)
    table = await find(request.game_id, player, call)
    seat = table.game.seat_of(player, request.seat, request.ply)
    call.viewer = VIEWER_IN[seat]
    text = _pass_in(table.game) if request.move is None else request.move
    played = Play(seat, text, request.ply, request.offer_draw, request.thought)
    outcome = call.parts.arbiter.act(table, played, call.arrived)
    if outcome.refusal is not None:
        raise outcome.refusal
    answer = state_answer if table.game.open else move_answer
    return answer(request, table, player, call, shown=outcome.shown)


def _pass_in(game: Game) -> str:
    """The text of a pass.

    :raises BadRequest: nobody passes in this game.
    """
    if not game.open:
        return PASS
    raise BadRequest(f"move: null passes, which {game.options.variant} has no use for; send SAN (Nf3) or UCI (g1f3)")
