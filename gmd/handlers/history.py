"""``history``: the whole game."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import GetHistory, HistoryReply
from gmd.games import views
from gmd.games.game import Game
from gmd.histories import EncodedHistory, encoded
from gmd.live_games import LiveGame
from gmd.requests.call import Answer, Call, player_of
from gmd.requests.show import find


async def history(request: GetHistory, call: Call) -> Answer:
    """As PGN and as UCI moves, and in rbc as reconchess has it."""
    live = await find(request.game_id, player_of(request, call), call)
    views.check_history(live.game)
    commit, found = live.commit, _kept(live, call)
    if found is None:
        async with call.services.arbiter.bench.place(call.peer, paid=True):
            commit, found = live.commit, _kept(live, call) or await _made(live, call)
    reply = HistoryReply(id=echo_id(request), pgn=found.pgn, moves=found.moves, history=found.record)
    return Answer(reply, commit)


def _kept(live: LiveGame, call: Call) -> EncodedHistory | None:
    """The history of a finished game, if it is kept."""
    return call.services.histories.find(live.game.id) if live.game.over else None


async def _made(live: LiveGame, call: Call) -> EncodedHistory:
    """The history of a game as it is now; it is kept where it can never become another."""
    final = live.game.over and live.commit is None
    steps = views.history(live.game, _names_in(live.game, call).get)
    made = await call.services.arbiter.bench.run(encoded(steps), call.peer)
    if final:
        call.services.histories.keep(live.game.id, made)
    return made


def _names_in(game: Game, call: Call) -> dict[int, str]:
    """What the game's registered players are called, by their ids."""
    accounts = [call.services.authenticator.registry.get(player) for player in game.named if player is not None]
    return {account.player: account.name for account in accounts if account is not None}
