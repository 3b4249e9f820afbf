"""``history``: the whole game."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import GetHistory, HistoryReply
from gmd.games import views

from .call import Answer, Call, handles, player_of
from .show import find


@handles(GetHistory)
async def history(request: GetHistory, call: Call) -> Answer:
    """As PGN and as UCI moves, and in rbc as reconchess has it."""
    table = await find(request.game_id, player_of(request, call), call)
    pgn, moves, record = views.history(table.game)
    return Answer(HistoryReply(id=echo_id(request), pgn=pgn, moves=moves, history=record), table.commit)
