"""``belief``: where the opponent's pieces may stand, for a player of reconnaissance blind chess."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import chess
from msgspec import UNSET

from gm_protocol.belief import BeliefReply, GetBelief
from gm_protocol.codec import echo_id
from gm_protocol.errors import NotAvailable
from gm_protocol.state import side_of
from gmd.games import views
from gmd.games.game import Game
from gmd.games.rbc_knowledge import Observed
from gmd.games.variants import VARIANTS
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import in_game
from gmd.net.addresses import source_of
from gmd.play.beliefs import Belief, Beliefs, Followed, believed_steps
from gmd.play.live_games import LiveGame


@in_game(by_player=True)
async def belief(request: GetBelief, live: LiveGame, context: RequestContext) -> PendingReply:
    """Show how many positions are possible for a seat, what may stand where in them, and some of them."""
    game, beliefs, cpu_queue = live.game, context.services.beliefs, context.services.arbiter.cpu_queue
    seat = game.seat_of(context.player, side_of(request.seat))
    key, peer = (game.id, seat), context.session.peer
    _check(game, request)
    async with beliefs.kept.locks.hold(key), cpu_queue.slot(peer, paid=True):
        commit, ply, observed = live.commit_for(views.VIEWER_IN[seat]), *views.observed_in_play(game, seat)
        followed = beliefs.follow(game.id, seat, game.options.fen)
        try:
            found = await cpu_queue.run(_work(beliefs, followed, game, seat, observed, request), peer)
        finally:
            wait = beliefs.kept.keep(key, followed, source_of(peer) if peer else "")
        if found is None:
            raise beliefs.refusal(followed, observed, wait)
    reply = BeliefReply(
        id=echo_id(request),
        ply=ply,
        count=found.count,
        exact=found.exact,
        marginals=found.marginals,
        samples=found.samples,
        hint=found.hint if request.hint else UNSET,
    )
    return context.reply(reply, commit, live)


def has_hints(game: Game) -> bool:
    """Return whether players may ask which sense would tell most: not where the game counts for their ratings."""
    return not game.created.ranked


def _check(game: Game, request: GetBelief) -> None:
    """Check that a game has beliefs, and the hint that is asked for.

    :raises NotAvailable: it is of another variant, or has not begun; or it is ranked, and a hint is asked for.
    """
    if not VARIANTS[game.options.variant].senses:
        raise NotAvailable(f"game_id: game {game.id} is {game.options.variant}: belief is for games of rbc")
    if not game.begun:
        raise NotAvailable(f"game_id: game {game.id} has not begun: ask for a belief once both seats are taken")
    if request.hint and not has_hints(game):
        raise NotAvailable(f"hint: game {game.id} is ranked: ask for a belief without a hint")


def _work(
    beliefs: Beliefs,
    followed: Followed,
    game: Game,
    seat: chess.Color,
    observed: Sequence[Observed],
    request: GetBelief,
) -> Generator[None, None, Belief | None]:
    """Return the belief, in steps; None if this takes more work than a request may cause."""
    if not (yield from beliefs.catch_up(followed, game, observed)):
        return None
    to_sense = observed[-1].step == "opponent" if observed else game.start_turn == seat
    hint = request.hint and to_sense and game.now.ending is None
    return (yield from believed_steps(followed, request.samples, request.seed, hint=hint))
