"""``state``: a game as it is now."""

from __future__ import annotations

from gm_protocol.messages import GetState
from gm_protocol.state import side_of

from .call import Answer, Call, handles, player_of
from .show import find, state_answer, viewer_of


@handles(GetState)
async def state(request: GetState, call: Call) -> Answer:
    """Show it to whoever asks, as far as it may see it."""
    player = player_of(request, call)
    live = await find(request.game_id, player, call)
    if request.actions or not live.game.open:
        call.viewer = viewer_of(live.game, player, side_of(request.seat), call)
    return state_answer(request, live, player, call, with_actions=request.actions, name_players=True)
