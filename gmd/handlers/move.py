"""``move``: a seat's move."""

from __future__ import annotations

from gm_protocol.errors import BadRequest
from gm_protocol.messages import MakeMove
from gm_protocol.state import side_of
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
    live = await find(request.game_id, player, call)
    seat = live.game.seat_of(player, side_of(request.seat), request.ply)
    call.viewer = VIEWER_IN[seat]
    text = _pass_in(live.game) if request.move is None else request.move
    played = Play(seat, text, request.ply, request.offer_draw, request.thought)
    decision = call.services.arbiter.act(live, played, call.arrived)
    if decision.refusal is not None:
        raise decision.refusal
    answer = move_answer if live.game.moves_are_requests else state_answer
    return answer(request, live, player, call, shown=decision.shown)


def _pass_in(game: Game) -> str:
    """The text of a pass.

    :raises BadRequest: nobody passes in this game.
    """
    if game.moves_are_requests:
        return PASS
    raise BadRequest(f"move: null passes, which {game.options.variant} has no use for; send SAN (Nf3) or UCI (g1f3)")
