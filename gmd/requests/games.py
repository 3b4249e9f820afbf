"""Requests about a game: finding the game, acting in it, and choosing the view of it."""

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

#: Handlers of requests; and of requests about a game, which they get as an argument.
Handler = Callable[[Any, RequestContext], Awaitable[PendingReply]]
GameHandler = Callable[[Any, LiveGame, RequestContext], Awaitable[PendingReply]]
#: Raises a GmError if a request makes no sense, before its game is looked up.
Check = Callable[[Any, RequestContext], object]


def in_game(
    handler: GameHandler, *, by_player: bool = False, check: Check | None = None, acts: bool = False
) -> Handler:
    """Return a handler that looks up the request's game and calls a game handler.

    :param handler: gets the game as of the request's arrival.
    :param by_player: whether the request needs a player.
    :param check: called before the game is looked up.
    :param acts: whether the handler only has a command decided (:func:`act`), which tests the clock's flag.
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
    """Return a game that a request names, as of the request's arrival, and note the player's first contact.

    :raises NoSuchGame: no game has this id.
    :raises RefusedInGame: the request may not act as its player.
    """
    live = await context.services.arbiter.live_game(game_id, context.session.peer)
    enter(live, context)
    return live


def enter(live: LiveGame, context: RequestContext, *, acts: bool = False) -> None:
    """Authorise a request, end its game if a flag has fallen before its arrival, and note its player's first contact.

    :param acts: as in :func:`in_game`: whether the handler's command tests the flag itself.
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
    """Apply a viewer's command to a game.

    :raises RefusedInGame: the game refuses the command.
    """
    decision = context.services.arbiter.act(live, command, context.arrived)
    if decision.refusal is not None:
        raise RefusedInGame(decision.refusal, live.commit_for(viewer))
    return decision


def viewer_of(game: Game, named: chess.Color | None, context: RequestContext, both: Viewer | None = None) -> Viewer:
    """Return the viewer whose view of a game the request gets.

    :param named: the seat that the request names.
    :param both: the viewer if the player holds both seats of a game that hides something, and names neither.
    :raises NotAPlayer: the player does not hold the seat that it names.
    :raises BadRequest: the player holds both seats and must name one.
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
