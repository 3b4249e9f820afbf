"""``history``: the whole game."""

from __future__ import annotations

import trio

from gm_protocol.codec import echo_id
from gm_protocol.messages import GetHistory, HistoryReply
from gmd.games import views

from .call import Answer, Call, handles, player_of
from .show import find

#: Plies of an rbc game whose history is made while everybody waits: some ten milliseconds. It takes playing the game
#: again, to see what each turn had to show.
MAX_PLIES_AT_ONCE = 250


@handles(GetHistory)
async def history(request: GetHistory, call: Call) -> Answer:
    """As PGN and as UCI moves, and in rbc as reconchess has it."""
    table = await find(request.game_id, player_of(request, call), call)
    game = table.game
    if game.over and not game.open and game.now.ply > MAX_PLIES_AT_ONCE:
        pgn, moves, record = await trio.to_thread.run_sync(views.history, game)  # it changes no more
    else:
        pgn, moves, record = views.history(game)
    return Answer(HistoryReply(id=echo_id(request), pgn=pgn, moves=moves, history=record), table.commit)
