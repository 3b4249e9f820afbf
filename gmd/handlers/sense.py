"""``sense``: a seat's sense of a part of the board."""

from __future__ import annotations

from gm_protocol.messages import MakeSense
from gm_protocol.state import side_of
from gmd.games.commands import Sense
from gmd.games.views import VIEWER_IN
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import act, in_game, sense_answer
from gmd.play.live_games import LiveGame


@in_game(by_player=True, acts=True)
async def sense(request: MakeSense, live: LiveGame, context: RequestContext) -> PendingReply:
    """Sense, or show the result again if the request is repeated."""
    seat = live.game.seat_of(context.player, side_of(request.seat), request.ply)
    viewer = VIEWER_IN[seat]
    decision = act(live, Sense(seat, request.square, request.ply, request.thought), viewer, context)
    return sense_answer(live, viewer, context, shown=decision.shown)
