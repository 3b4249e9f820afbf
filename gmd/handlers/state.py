"""``state``: a game as it is now."""

from __future__ import annotations

from gm_protocol.messages import GetState
from gm_protocol.state import side_of
from gmd.games.views import NOBODY
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import in_game, state_answer, viewer_of
from gmd.play.live_games import LiveGame


@in_game()
async def state(request: GetState, live: LiveGame, context: RequestContext) -> PendingReply:
    """Show the game, as far as the requester may see it."""
    viewer = NOBODY
    if request.actions or not live.game.open:
        viewer = viewer_of(live.game, side_of(request.seat), context)
    return state_answer(live, viewer, context, with_actions=request.actions, name_players=True)
