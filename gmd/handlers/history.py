"""``history``: the whole game."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import GetHistory, HistoryReply
from gmd.games import views

from .call import Answer, Call, handles, player_of
from .show import find


@handles(GetHistory)
async def history(request: GetHistory, call: Call) -> Answer:
    """As PGN and as UCI moves."""
    table = await find(request.game_id, player_of(request, call), call)
    game = table.game
    return Answer(HistoryReply(id=echo_id(request), pgn=views.full_pgn(game), moves=game.moves), table.commit)
