"""``state``: a game as it is now."""

from __future__ import annotations

from msgspec import UNSET

from gm_protocol.messages import GetState

from .call import Answer, Call, handles, player_of
from .show import actions_of, find, state_answer


@handles(GetState)
async def state(request: GetState, call: Call) -> Answer:
    """Show it to whoever asks."""
    player = player_of(request, call)
    table = await find(request.game_id, player, call)
    actions = actions_of(table, player, request.seat) if request.actions else UNSET
    return state_answer(request, table, player, call, actions_for=actions)
