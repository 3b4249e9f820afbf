"""Requests about a game: finding it, acting in it, and the replies that show it to a viewer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import chess
from msgspec import UNSET, UnsetType, structs

from gm_protocol.codec import echo_id
from gm_protocol.errors import GmError
from gm_protocol.lobby import Accept, SeatReply
from gm_protocol.messages import GameRequest, Join, JoinReply, MoveReply, NewGame, PlayerNames, SenseReply, StateReply
from gm_protocol.state import GameState, LastResult, LastSense
from gmd.games import views
from gmd.games.commands import Command
from gmd.games.game import Decision, Game, Snapshot, seat_name
from gmd.games.views import VIEWER_IN, Viewer
from gmd.handlers.context import PendingReply, RefusedInGame, RequestContext
from gmd.handlers.permission import authorise
from gmd.play.live_games import LiveGame

#: Handlers of requests; and of requests about a game, which they get as an argument.
Handler = Callable[[Any, RequestContext], Awaitable[PendingReply]]
GameHandler = Callable[[Any, LiveGame, RequestContext], Awaitable[PendingReply]]
#: Raises a GmError if a request makes no sense, before its game is looked up.
Check = Callable[[Any, RequestContext], object]


def in_game(
    *, by_player: bool = False, check: Check | None = None, acts: bool = False
) -> Callable[[GameHandler], Handler]:
    """Make a handler that looks up the request's game, and calls the decorated function with it as of its arrival.

    :param by_player: whether the request needs a player.
    :param check: called before the game is looked up.
    :param acts: whether the handler only has a command decided (:func:`act`), which tests the clock's flag.
    """

    def decorate(handler: GameHandler) -> Handler:
        @wraps(handler)
        async def handle(request: Any, context: RequestContext) -> PendingReply:
            if by_player and context.player is None:
                raise context.needs_player()
            if check is not None:
                check(request, context)
            arbiter = context.services.arbiter
            live = arbiter.cached(request.game_id) or await arbiter.live_game(request.game_id, context.session.peer)
            enter(live, context, acts=acts)
            try:
                return await handler(request, live, context)
            except GmError as error:
                raise RefusedInGame(error, live.commit) from error

        return handle

    return decorate


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


def state_of(
    live: LiveGame, viewer: Viewer, context: RequestContext, *, brief: bool, shown: Snapshot | None = None
) -> GameState:
    """Return the game as a viewer may see it.

    :param shown: the snapshot to show, for a repeated request: the game after the first one; None for the present.
    """
    game = live.game
    if shown is None:
        shown = game.now
        if game.over and context.player is not None:
            context.session.unacknowledged.show(context.player, live)
    elapsed = 0.0 if game.clock is None else context.services.arbiter.elapsed(live, context.arrived)
    state = views.game_state(game, shown, elapsed, viewer, brief=brief)
    return state if context.session.strict else views.for_version_1(state)


def _shared_state(live: LiveGame, viewer: Viewer, context: RequestContext, *, brief: bool) -> GameState:
    elapsed = context.services.arbiter.elapsed(live, context.arrived)
    return live.shared_view(viewer, brief=brief).at(live.game, elapsed, viewer)


def names_in(state: GameState, context: RequestContext) -> PlayerNames | UnsetType:
    """Return the names of a game's players; unset if neither is registered."""
    white, black = (_name_of(player, context) for player in (state.player_white, state.player_black))
    return UNSET if white is None and black is None else PlayerNames(white=white, black=black)


def _name_of(player: int | None, context: RequestContext) -> str | None:
    account = None if player is None else context.services.authenticator.registry.get(player)
    return None if account is None else account.name


def state_answer(
    live: LiveGame,
    viewer: Viewer,
    context: RequestContext,
    *,
    shown: Snapshot | None = None,
    with_actions: bool = False,
    name_game: bool = False,
    name_players: bool = False,
    claim_refused: str | UnsetType = UNSET,
    shared: bool = False,
) -> PendingReply:
    """Return the reply that shows a game's state to a viewer.

    :param shown: the snapshot to show; None for the present.
    :param with_actions: whether to add the viewer's possible actions.
    :param name_game: whether to add the game's id.
    :param name_players: whether to add the players' names.
    :param claim_refused: why a move that claimed a draw is none.
    :param shared: whether to use the view of the present that spectators share, encoded once.
    """
    request = context.request
    senses, moves = views.actions(live.game, viewer) if with_actions else (UNSET, UNSET)
    if shared and context.session.strict:
        state = _shared_state(live, viewer, context, brief=request.brief)
    else:
        state = state_of(live, viewer, context, brief=request.brief, shown=shown)
    reply = StateReply(
        id=echo_id(request),
        game_id=live.game.id if name_game else UNSET,
        state=state,
        sense_actions=senses,
        move_actions=moves,
        names=names_in(state, context) if name_players else UNSET,
        claim_refused=claim_refused,
    )
    return context.reply(reply, live.commit_for(viewer), live)


def sense_answer(live: LiveGame, viewer: Viewer, context: RequestContext, *, shown: Snapshot | None) -> PendingReply:
    """Return the reply to a sense."""
    request, known = context.request, live.game.knowledge_of(shown or live.game.now, viewer.seat)
    assert isinstance(known.sense, LastSense)  # the player has just sensed
    reply = SenseReply(
        id=echo_id(request),
        sense_result=known.sense.sense_result,
        state=state_of(live, viewer, context, brief=request.brief, shown=shown),
    )
    return context.reply(reply, live.commit_for(viewer), live)


def move_answer(live: LiveGame, viewer: Viewer, context: RequestContext, *, shown: Snapshot | None) -> PendingReply:
    """Return the reply to a move in a game that hides something: it has the move that was taken, and any capture."""
    request, known = context.request, live.game.knowledge_of(shown or live.game.now, viewer.seat)
    assert isinstance(known.result, LastResult)  # the player has just moved
    reply = MoveReply(
        id=echo_id(request),
        requested_move=known.result.requested_move,
        taken_move=known.result.taken_move,
        capture_square=known.result.capture_square,
        state=state_of(live, viewer, context, brief=request.brief, shown=shown),
    )
    return context.reply(reply, live.commit_for(viewer), live)


def terms_of(request: GameRequest) -> NewGame:
    """Return the options of the requested game, as a ``new_game`` without players."""
    asked = {name: getattr(request, name) for name in GameRequest.__struct_fields__}
    return structs.replace(NewGame(player_white=None, player_black=None, **asked), id=None, token=None)


def take_attempt(context: RequestContext) -> None:
    """Count a request that may create a game with another player.

    :raises TooMany: too many came from the same address.
    """
    quotas, peer = context.services.lobby.quotas, source_peer(context)
    quotas.check_game(peer)
    quotas.take_invitation(peer)


def source_peer(context: RequestContext) -> str:
    """Return the peer of a request, as host:port, for limits by address; empty for the operator, who has none."""
    return "" if context.session.is_operator else context.session.peer


def seat_answer(request: GameRequest, live: LiveGame, context: RequestContext) -> PendingReply:
    """Return the reply that shows the player its game; if the request marks presence, note its first contact."""
    player, game = context.actor, live.game
    if context.shows_presence:
        context.services.lobby.ready(live, player, context.arrived)
    viewer = viewer_of(game, None, context, both=Viewer.WHITE)
    reply = SeatReply(
        id=echo_id(request),
        game_id=game.id,
        seat=seat_name(game.seats(player)[0]),
        state=state_of(live, viewer, context, brief=request.brief),
        options=game.options,
    )
    return context.reply(reply, live.commit_for(viewer), live)


def join_answer(
    request: Accept | Join, live: LiveGame, named: chess.Color | None, context: RequestContext
) -> PendingReply:
    """Return the reply that shows the player the seat that it has taken; note its first contact as above.

    :param named: the seat that the request names.
    """
    player, game = context.actor, live.game
    if context.shows_presence:
        context.services.lobby.ready(live, player, context.arrived)
    viewer = viewer_of(game, named, context, both=Viewer.WHITE)
    state = state_of(live, viewer, context, brief=request.brief)
    reply = JoinReply(
        id=echo_id(request),
        seat=seat_name(game.seats(player)[0] if named is None else named),
        state=state,
        options=game.options,
        names=names_in(state, context),
    )
    return context.reply(reply, live.commit_for(viewer), live)
