"""``actions``: the moves and senses that a player may make now."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import ActionsReply, GetActions
from gm_protocol.state import side_of
from gmd.games import views
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import in_game
from gmd.play.live_games import LiveGame


@in_game(by_player=True)
async def actions(request: GetActions, live: LiveGame, context: RequestContext) -> PendingReply:
    """Show a seat's moves and, in rbc, its senses; null if it is not its turn."""
    viewer = views.VIEWER_IN[live.game.seat_of(context.player, side_of(request.seat))]
    senses, moves = views.actions(live.game, viewer)
    reply = ActionsReply(id=echo_id(request), sense_actions=senses, move_actions=moves)
    return context.reply(reply, live.commit_for(viewer), live)
