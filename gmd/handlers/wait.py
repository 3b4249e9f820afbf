"""``wait``: blocks until there is something to show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import chess

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest, NoSuchGame
from gm_protocol.messages import StateReply, Wait
from gm_protocol.state import side_of
from gmd.games.game import Game
from gmd.games.views import NOBODY
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import find, state_answer, viewer_of
from gmd.handlers.permission import authorise
from gmd.net import loop_time
from gmd.net.memory_ledger import UNCOUNTED
from gmd.play.live_games import LiveGame
from gmd.play.watchers import Subscription

#: Estimated bytes of memory that a wait holds for each game that it names.
GAME_BYTES = 300

#: Returns the answer, as of its context's time of arrival; None while there is nothing to show.
Look = Callable[[RequestContext], Awaitable[PendingReply | None]]


async def wait(request: Wait, context: RequestContext) -> PendingReply:
    """Answer at once if there is something to show, else as soon as there is, or at the timeout."""
    _check_fields(request, context)
    look, watching = await _what_for(request, context)
    answer = await look(context)
    if answer is None:
        answer, context = await _patiently(look, watching, request, context)
    live = None
    if answer is None and request.game_id is not None:
        live = await context.services.arbiter.live_game(request.game_id, context.session.peer)
    authorise(context)  # its key may have been revoked meanwhile
    if answer is None:
        return _nothing(request, context) if live is None else _show(request, live, context)
    return answer


def _nothing(request: Wait, context: RequestContext) -> PendingReply:
    """Return the reply to a wait for several games that ends without one to show."""
    return context.reply(StateReply(id=echo_id(request), state=None))


async def _what_for(request: Wait, context: RequestContext) -> tuple[Look, AbstractContextManager[Subscription]]:
    """Return the function that looks for an answer, and the subscription to wait on."""
    if request.any:
        return _any_game(request, context)
    game_ids = request.game_ids if request.game_id is None else [request.game_id]
    if context.player is None:
        return await _as_spectator(request, game_ids or [], context)
    return await _as_player(request, game_ids or [], context)


async def _patiently(
    look: Look, watching: AbstractContextManager[Subscription], request: Wait, context: RequestContext
) -> tuple[PendingReply | None, RequestContext]:
    """Look at each notification until there is an answer, time is up, or the client or the server interrupts.

    Return the answer, and the request's context as if it had arrived when the wait ended.
    """
    longest = context.services.limits.max_wait_seconds
    seconds = longest if request.timeout is None else min(request.timeout, longest)
    answer = None
    if seconds > 0:
        timeouts = context.services.arbiter.watchers.timeouts
        with _holding(request, context), watching as subscription, timeouts.after(seconds, subscription.time_out):
            answer = await look(context)  # again: a game may have changed before the subscription
            async with context.session.attending(subscription):
                while answer is None and not subscription.interrupted and not subscription.timed_out:
                    await subscription.wait()
                    answer = await look(context.at(loop_time.now()))
            if answer is None and subscription.timed_out and loop_time.is_catching_up():
                await loop_time.caught_up()  # the awaited request may be unread in a socket
                answer = await look(context.at(loop_time.now()))
    return answer, context.at(loop_time.now())


@contextmanager
def _holding(request: Wait, context: RequestContext) -> Iterator[None]:
    """Count the memory of a request that waits for many games."""
    size = GAME_BYTES * (len(request.game_ids or ()) + len(request.except_))
    size = 0 if size < UNCOUNTED else size
    context.session.hold(size)
    try:
        yield
    finally:
        context.session.hold(-size)


def _check_fields(request: Wait, context: RequestContext) -> None:
    """Refuse combinations of fields that make no sense."""
    player, most = context.player, context.services.limits.max_wait_games
    given = [request.game_id is not None, request.game_ids is not None, request.any]
    if given.count(True) != 1:
        raise BadRequest("game_id: wait takes exactly one of game_id, game_ids and any")
    if request.game_ids is not None and not 1 <= len(request.game_ids) <= most:
        raise BadRequest(f"game_ids: {len(request.game_ids)} games are not between 1 and {most}")
    if len(request.except_) > most:
        raise BadRequest(f"except: {len(request.except_)} games are more than {most}")
    if request.seat is not None and request.any:
        raise BadRequest(f"seat: {request.seat!r} goes with game_id or game_ids, not with any")
    if player is None and (request.any or (request.game_id is not None and request.ply is None)):
        raise BadRequest("player: wait needs one, or, to follow a game without a seat, game_id and ply")
    if player is not None and request.ply is not None:
        raise BadRequest(f"ply: {request.ply} is for spectators; a player's wait ends at its turn")
    if request.game_ids is not None and request.ply is not None:
        raise BadRequest(f"ply: {request.ply} applies to one game; send it with game_id")


def _show(request: Wait, live: LiveGame, context: RequestContext, *, shared: bool = False) -> PendingReply:
    viewer = NOBODY
    if request.actions or not live.game.open:
        viewer = viewer_of(live.game, side_of(request.seat), context, both=NOBODY)
    with_actions, name_game = request.actions, request.game_id is None
    return state_answer(live, viewer, context, with_actions=with_actions, name_game=name_game, shared=shared)


async def _as_player(
    request: Wait, game_ids: Sequence[int], context: RequestContext
) -> tuple[Look, AbstractContextManager[Subscription]]:
    """Look for the first game in which the player must act, or which is over."""
    arbiter, player, peer = context.services.arbiter, context.actor, context.session.peer
    for game_id in game_ids:  # check all before find() notes contact: a refused request must start no clock
        live = await arbiter.live_game(game_id, peer)
        authorise(context)
        _seats(request, live.game, player)
    for game_id in game_ids:
        await find(game_id, context)

    async def look(now: RequestContext) -> PendingReply | None:
        for game_id in game_ids:
            live = await arbiter.live_game(game_id, peer)
            if live.game.over or any(map(live.game.may_act, _seats(request, live.game, player))):
                return _show(request, live, now)
        return None

    return look, arbiter.watchers.watching_games(game_ids)


def _seats(request: Wait, game: Game, player: int) -> Sequence[chess.Color]:
    """Return the seats that a request waits for in a game: one, or the player's two if it has game_ids and no seat.

    :raises NotAPlayer: the player holds no seat, or not the one that it names.
    :raises BadRequest: it holds both and must name one.
    """
    both = game.seats(player) if request.game_id is None and request.seat is None else []
    return both or [game.seat_of(player, side_of(request.seat))]


async def _as_spectator(
    request: Wait, game_ids: Sequence[int], context: RequestContext
) -> tuple[Look, AbstractContextManager[Subscription]]:
    """Look for the first game that has moved on past the given ply, or is over."""
    arbiter = context.services.arbiter
    watchers = arbiter.watchers
    for game_id in game_ids:
        await find(game_id, context)

    async def look(now: RequestContext) -> PendingReply | None:
        for game_id in game_ids:
            live = await arbiter.live_game(game_id, context.session.peer)
            if live.game.over or (request.ply is not None and live.game.now.ply > request.ply):
                return _show(request, live, now, shared=watchers.has_crowd(game_id))
        return None

    return look, watchers.spectating(game_ids)


def _any_game(request: Wait, context: RequestContext) -> tuple[Look, AbstractContextManager[Subscription]]:
    """Look for a game that is not in ``except`` and whose result this session has not shown to the player.

    Games and invitations take turns, so that neither inviters nor games can hide the others.
    """
    authorise(context)
    player, excepted, services = context.actor, frozenset(request.except_), context.services
    turns, unacknowledged, peer = services.arbiter.turns, context.session.unacknowledged, context.session.peer

    async def look(now: RequestContext) -> PendingReply | None:
        while True:
            invitations = services.lobby.book.waiting(player)
            without, first = excepted | unacknowledged.to(player), unacknowledged.last_was_game
            game_id = await turns.next_due(player, without, invitations, invitation_first=first, peer=peer)
            if game_id is None:
                return None
            try:
                answer = _show(request, await find(game_id, now), now)
            except NoSuchGame:  # it was pruned meanwhile
                turns.forget(game_id, [player])
            else:
                unacknowledged.last_was_game = game_id not in invitations
                return answer

    return look, services.arbiter.watchers.watching_player(player)
