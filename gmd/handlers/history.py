"""``history``: the whole game."""

from __future__ import annotations

import trio

from gm_protocol.codec import echo_id
from gm_protocol.messages import GetHistory, HistoryReply
from gmd.games import views
from gmd.games.game import Game

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
    names = _names_in(game, call)
    if game.over and not game.open and game.now.ply > MAX_PLIES_AT_ONCE:
        pgn, moves, record = await trio.to_thread.run_sync(views.history, game, names.get)  # it changes no more
    else:
        pgn, moves, record = views.history(game, names.get)
    return Answer(HistoryReply(id=echo_id(request), pgn=pgn, moves=moves, history=record), table.commit)


def _names_in(game: Game, call: Call) -> dict[int, str]:
    """What the game's registered players are called, by their ids."""
    accounts = [call.parts.gate.registry.get(player) for player in game.named if player is not None]
    return {account.player: account.name for account in accounts if account is not None}
