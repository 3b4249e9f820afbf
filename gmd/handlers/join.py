"""``join``: a player takes a seat."""

from __future__ import annotations

from gm_protocol.messages import Join
from gm_protocol.state import side_of
from gmd.games import commands
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import in_game, join_answer
from gmd.play.live_games import LiveGame


@in_game(by_player=True)
async def join(request: Join, live: LiveGame, context: RequestContext) -> PendingReply:
    """Take the seat; a player who has it already is shown the game again."""
    seat = side_of(request.seat)
    decision = context.services.arbiter.join(live, commands.Join(context.actor, seat), context.arrived)
    if decision.refusal is not None:
        raise decision.refusal
    return join_answer(request, live, seat, context)
