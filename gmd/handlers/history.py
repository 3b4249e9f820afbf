"""``history``: the whole game."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import GetHistory, HistoryReply
from gmd.games import views
from gmd.games.game import Game
from gmd.histories import EncodedHistory, encoded
from gmd.shelf import Table

from .call import Answer, Call, handles, player_of
from .show import find


@handles(GetHistory)
async def history(request: GetHistory, call: Call) -> Answer:
    """As PGN and as UCI moves, and in rbc as reconchess has it."""
    table = await find(request.game_id, player_of(request, call), call)
    views.check_history(table.game)
    commit, found = table.commit, _kept(table, call)
    if found is None:
        async with call.parts.arbiter.bench.place(call.peer, paid=True):
            commit, found = table.commit, _kept(table, call) or await _made(table, call)
    reply = HistoryReply(id=echo_id(request), pgn=found.pgn, moves=found.moves, history=found.record)
    return Answer(reply, commit)


def _kept(table: Table, call: Call) -> EncodedHistory | None:
    """The history of a finished game, if it is kept."""
    return call.parts.histories.find(table.game.id) if table.game.over else None


async def _made(table: Table, call: Call) -> EncodedHistory:
    """The history of a game as it is now; it is kept where it can never become another."""
    final = table.game.over and table.commit is None
    steps = views.history(table.game, _names_in(table.game, call).get)
    made = await call.parts.arbiter.bench.run(encoded(steps), call.peer)
    if final:
        call.parts.histories.keep(table.game.id, made)
    return made


def _names_in(game: Game, call: Call) -> dict[int, str]:
    """What the game's registered players are called, by their ids."""
    accounts = [call.parts.gate.registry.get(player) for player in game.named if player is not None]
    return {account.player: account.name for account in accounts if account is not None}
