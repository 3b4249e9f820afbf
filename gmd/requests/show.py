"""Replies that show a game."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from gm_protocol.codec import echo_id
from gm_protocol.messages import MoveReply, PlayerNames, SenseReply, StateReply
from gm_protocol.state import GameState, LastResult, LastSense
from gmd.games import views
from gmd.games.game import Snapshot
from gmd.games.views import Viewer
from gmd.live_games import LiveGame

from .context import PendingReply, RequestContext


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
    return views.game_state(game, shown, elapsed, viewer, brief=brief)


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
    shared: bool = False,
) -> PendingReply:
    """Return the reply that shows a game's state to a viewer.

    :param shown: the snapshot to show; None for the present.
    :param with_actions: whether to add the viewer's possible actions.
    :param name_game: whether to add the game's id.
    :param name_players: whether to add the players' names.
    :param shared: whether to use the view of the present that spectators share, encoded once.
    """
    request = context.request
    senses, moves = views.actions(live.game, viewer) if with_actions else (UNSET, UNSET)
    if shared:
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
