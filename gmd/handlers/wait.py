"""``wait``: blocks until there is something to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager

import chess
import trio

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest, NoSuchGame
from gm_protocol.messages import StateReply, Wait
from gmd import loop_time
from gmd.games.game import Game
from gmd.games.views import Viewer
from gmd.live_games import LiveGame
from gmd.watchers import Subscription

from .call import Answer, Call, authorise, handles, player_of
from .show import find, state_answer, viewer_of

#: Looks whether there is something to answer, and gives that answer.
Look = Callable[[], Awaitable[Answer | None]]


@handles(Wait)
async def wait(request: Wait, call: Call) -> Answer:
    """Answer at once if something is due, else as soon as it is, at the timeout at the latest."""
    player = player_of(request, call)
    _check(request, player, call)
    if request.any:
        assert player is not None
        look, watching = _any_game(request, player, call)
    elif player is None:
        game_ids = request.game_ids if request.game_id is None else [request.game_id]
        look, watching = await _as_spectator(request, game_ids or [], call)
    else:
        game_ids = request.game_ids if request.game_id is None else [request.game_id]
        look, watching = await _as_player(request, game_ids or [], player, call)
    answer = await look() or await _patiently(look, watching, request, call)
    live = None
    if answer is None and request.game_id is not None:
        live = await call.services.arbiter.live_game(request.game_id, call.peer)
    authorise(player, call)  # its key may have been taken away meanwhile
    if answer is not None:
        return answer
    if live is None:
        return Answer(StateReply(id=echo_id(request), state=None))
    return _show(request, live, player, call)


async def _patiently(
    look: Look, watching: AbstractContextManager[Subscription], request: Wait, call: Call
) -> Answer | None:
    """Look whenever the bell rings, until there is an answer, time is up, or the client or the server interrupts."""
    longest = call.services.limits.max_wait_seconds
    seconds = longest if request.timeout is None else min(request.timeout, longest)
    answer = None
    if seconds > 0:
        with watching as subscription:
            with trio.move_on_after(seconds):
                answer = await look()  # again, for a game may have been loaded since something was looked at
                async with call.attending(subscription):
                    while answer is None and not subscription.interrupted:
                        await subscription.wait()
                        call.arrived = loop_time.now()
                        answer = await look()
            timed_out = answer is None and not subscription.interrupted
            if timed_out and loop_time.is_catching_up():  # what it waits for may lie in a socket
                await loop_time.caught_up()
                answer = await look()
    call.arrived = loop_time.now()
    return answer


def _check(request: Wait, player: int | None, call: Call) -> None:
    """Refuse combinations of fields that mean nothing."""
    given = [request.game_id is not None, request.game_ids is not None, request.any]
    if given.count(True) != 1:
        raise BadRequest("game_id: wait takes exactly one of game_id, game_ids and any")
    if request.game_ids is not None and not 1 <= len(request.game_ids) <= call.services.limits.max_wait_games:
        message = f"game_ids: {len(request.game_ids)} games are not between 1 and {call.services.limits.max_wait_games}"
        raise BadRequest(message)
    if len(request.except_) > call.services.limits.max_wait_games:
        raise BadRequest(f"except: {len(request.except_)} games are more than {call.services.limits.max_wait_games}")
    if request.seat is not None and request.any:
        raise BadRequest(f"seat: {request.seat!r} goes with game_id or game_ids, not with any")
    if player is None and (request.any or (request.game_id is not None and request.ply is None)):
        raise BadRequest("player: wait needs one, or, to follow a game without a seat, game_id and ply")
    if player is not None and request.ply is not None:
        raise BadRequest(f"ply: {request.ply} is for those who follow a game; a player waits for its turn")
    if request.game_ids is not None and request.ply is not None:
        raise BadRequest(f"ply: {request.ply} is of one game, and goes with game_id")


def _show(request: Wait, live: LiveGame, player: int | None, call: Call, *, shared: bool = False) -> Answer:
    if request.actions or not live.game.open:
        call.viewer = viewer_of(live.game, player, request.seat, call, both=Viewer.NOBODY)
    with_actions, name_game = request.actions, request.game_id is None
    return state_answer(request, live, player, call, with_actions=with_actions, name_game=name_game, shared=shared)


async def _as_player(
    request: Wait, game_ids: Sequence[int], player: int, call: Call
) -> tuple[Look, AbstractContextManager[Subscription]]:
    """Due is the first game where the player is to act, or that is over."""
    for game_id in game_ids:  # all of them first: a refused request starts no clock
        live = await call.services.arbiter.live_game(game_id, call.peer)
        authorise(player, call)
        _seats(request, live.game, player)
    for game_id in game_ids:
        await find(game_id, player, call)

    async def look() -> Answer | None:
        for game_id in game_ids:
            live = await call.services.arbiter.live_game(game_id, call.peer)
            if live.game.over or any(map(live.game.may_act, _seats(request, live.game, player))):
                return _show(request, live, player, call)
        return None

    return look, call.services.arbiter.watchers.watching_games(game_ids)


def _seats(request: Wait, game: Game, player: int) -> Sequence[chess.Color]:
    """The seats in a game that a request waits for: one; both, where it has "game_ids" and names no seat.

    :raises NotAPlayer: the player holds no seat, or not the one it names.
    :raises BadRequest: it holds both, and must name one.
    """
    both = game.seats(player) if request.game_id is None and request.seat is None else []
    return both or [game.seat_of(player, request.seat)]


async def _as_spectator(
    request: Wait, game_ids: Sequence[int], call: Call
) -> tuple[Look, AbstractContextManager[Subscription]]:
    """Due is the first game that has moved on past a ply, or is over."""
    watchers = call.services.arbiter.watchers
    for game_id in game_ids:
        await find(game_id, None, call)

    async def look() -> Answer | None:
        for game_id in game_ids:
            live = await call.services.arbiter.live_game(game_id, call.peer)
            if live.game.over or (request.ply is not None and live.game.now.ply > request.ply):
                return _show(request, live, None, call, shared=watchers.has_crowd(game_id))
        return None

    return look, watchers.spectating(game_ids)


def _any_game(request: Wait, player: int, call: Call) -> tuple[Look, AbstractContextManager[Subscription]]:
    """Due is the game that has waited longest for the player, but those it excepts, and ends that it has been told."""
    authorise(player, call)
    excepted, arbiter = frozenset(request.except_), call.services.arbiter

    async def look() -> Answer | None:
        while (
            game_id := await arbiter.turns.longest_due(player, excepted | call.unacknowledged.to(player))
        ) is not None:
            try:
                return _show(request, await find(game_id, player, call), player, call)
            except NoSuchGame:  # it was pruned while it was being looked for
                arbiter.turns.forget(game_id, [player])
        return None

    return look, arbiter.watchers.watching_player(player)
