"""Requests about a game: finding it, acting in it, and who looks at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import chess

from gm_protocol.errors import GmError
from gmd.games.commands import Command
from gmd.games.game import Decision, Game
from gmd.games.views import VIEWER_IN, Viewer
from gmd.live_games import LiveGame

from .context import PendingReply, RefusedInGame, RequestContext
from .permission import authorise

#: Answers a request; and one about a game that was found for it.
Handler = Callable[[Any, RequestContext], Awaitable[PendingReply]]
GameHandler = Callable[[Any, LiveGame, RequestContext], Awaitable[PendingReply]]
#: Raises a GmError where a request cannot be meant, before anything is looked for.
Check = Callable[[Any, RequestContext], object]


def in_game(
    handler: GameHandler, *, by_player: bool = False, check: Check | None = None, acts: bool = False
) -> Handler:
    """Return the handler of a request about one game, which is found first.

    :param handler: is given the game as it stands when the request arrives.
    :param by_player: whether somebody must make the request.
    :param check: is made before the game is looked for.
    :param acts: whether all the handler does is to have a command decided (:func:`act`), which tests the clock's flag.
    """

    @wraps(handler)
    async def handle(request: Any, context: RequestContext) -> PendingReply:
        if by_player and context.player is None:
            raise context.needs_player()
        if check is not None:
            check(request, context)
        arbiter = context.services.arbiter
        live = arbiter.at_hand(request.game_id) or await arbiter.live_game(request.game_id, context.session.peer)
        enter(live, context, acts=acts)
        try:
            return await handler(request, live, context)
        except GmError as error:
            raise RefusedInGame(error, live.commit) from error

    return handle


async def find(game_id: int, context: RequestContext) -> LiveGame:
    """Find a game that a request names, as it stands when the request arrives; its player has been heard from.

    :raises NoSuchGame: there is none.
    :raises RefusedInGame: the request may not act as its player.
    """
    live = await context.services.arbiter.live_game(game_id, context.session.peer)
    enter(live, context)
    return live


def enter(live: LiveGame, context: RequestContext, *, acts: bool = False) -> None:
    """Let a request act in a game: bring that up to its arrival, and note that its player has been heard from.

    :param acts: as in :func:`in_game`: then the clock's flag is not tested here, too.
    :raises RefusedInGame: the request may not act as its player.
    """
    try:
        authorise(context)
    except GmError as error:
        raise RefusedInGame(error, live.commit) from error
    if live.game.clock is not None:
        arbiter, player = context.services.arbiter, context.player
        if not acts:
            arbiter.look(live, context.arrived)
        if player is not None and context.shows_presence:
            arbiter.note_contact(live, player, context.arrived)


def act(live: LiveGame, command: Command, viewer: Viewer, context: RequestContext) -> Decision:
    """Let a command of a viewer's happen.

    :raises RefusedInGame: the game refuses it.
    """
    decision = context.services.arbiter.act(live, command, context.arrived)
    if decision.refusal is not None:
        raise RefusedInGame(decision.refusal, live.commit_for(viewer))
    return decision


def viewer_of(game: Game, named: chess.Color | None, context: RequestContext, both: Viewer | None = None) -> Viewer:
    """Return who a request looks at a game as.

    :param named: the seat that the request names.
    :param both: as whom, where the player holds both seats and names neither, and more than one thing is to be seen.
    :raises NotAPlayer: it does not hold the seat it names.
    :raises BadRequest: it holds both seats and must name one.
    """
    player = context.player
    if player is None:
        return Viewer.OVERSEER if context.session.oversees else Viewer.NOBODY
    seats = game.seats(player)
    if not seats:
        return Viewer.NOBODY
    if both is not None and named is None and len(seats) == 2 and not game.open:
        return both
    return VIEWER_IN[game.seat_of(player, named)]
