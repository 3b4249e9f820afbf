"""``history``: the whole game."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import GetHistory, HistoryReply
from gmd.games import views
from gmd.games.game import Game
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import in_game
from gmd.play.histories import EncodedHistory, encoded
from gmd.play.live_games import LiveGame


@in_game()
async def history(request: GetHistory, live: LiveGame, context: RequestContext) -> PendingReply:
    """Show the game as PGN and as UCI moves and, in rbc, in reconchess's format."""
    views.check_history(live.game)
    commit, found = live.commit, _kept(live, context)
    if found is None:
        async with context.services.arbiter.cpu_queue.slot(context.session.peer, paid=True):
            commit, found = live.commit, _kept(live, context) or await _made(live, context)
    reply = HistoryReply(id=echo_id(request), pgn=found.pgn, moves=found.moves, history=found.record)
    return context.reply(reply, commit, live)


def _kept(live: LiveGame, context: RequestContext) -> EncodedHistory | None:
    """Return the cached history of a finished game; None if there is none."""
    return context.services.histories.find(live.game.id) if live.game.over else None


async def _made(live: LiveGame, context: RequestContext) -> EncodedHistory:
    """Encode the history of a game as it is now, and cache it if it is final."""
    final = live.game.over and live.commit is None
    steps = views.history(live.game, _names_in(live.game, context).get)
    made = await context.services.arbiter.cpu_queue.run(encoded(steps), context.session.peer)
    if final:
        context.services.histories.keep(live.game.id, made)
    return made


def _names_in(game: Game, context: RequestContext) -> dict[int, str]:
    """Return the names of the game's registered players, by their ids."""
    accounts = [context.services.authenticator.registry.get(player) for player in game.named if player is not None]
    return {account.player: account.name for account in accounts if account is not None}
