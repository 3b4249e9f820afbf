"""What handlers share: finding a game, and showing it as it stands."""

from __future__ import annotations

import chess
from msgspec import UNSET, UnsetType

from gm_protocol.codec import echo_id
from gm_protocol.messages import MoveReply, PlayerNames, Request, SenseReply, StateReply
from gm_protocol.state import GameState, LastResult, LastSense
from gmd.games import views
from gmd.games.game import Game, Snapshot
from gmd.games.views import VIEWER_IN, Viewer
from gmd.live_games import LiveGame

from .call import Answer, Call, authorise


async def find(game_id: int, player: int | None, call: Call) -> LiveGame:
    """The game a request names, as it stands when the request arrives; its player has been heard from.

    :raises NoSuchGame: there is none.
    :raises Unauthorized: the player may not be acted for.
    """
    live = call.live = call.services.arbiter.at_hand(game_id) or await call.services.arbiter.live_game(
        game_id, call.peer
    )
    authorise(player, call)
    if live.game.clock is not None:
        call.services.arbiter.look(live, call.arrived)
        if player is not None and call.counts_as_contact:
            call.services.arbiter.note_contact(live, player, call.arrived)
    return live


def viewer_of(
    game: Game, player: int | None, named: chess.Color | None, call: Call, both: Viewer | None = None
) -> Viewer:
    """Who a request looks at a game as.

    :param both: as whom, where the player holds both seats and names neither, and more than one thing is to be seen.
    :raises NotAPlayer: it does not hold the seat it names.
    :raises BadRequest: it holds both seats and must name one.
    """
    if player is None:
        return Viewer.OVERSEER if call.oversees else Viewer.NOBODY
    seats = game.seats(player)
    if not seats:
        return Viewer.NOBODY
    if both is not None and named is None and len(seats) == 2 and not game.open:
        return both
    return VIEWER_IN[game.seat_of(player, named)]


def state_of(
    live: LiveGame, player: int | None, call: Call, *, brief: bool, shown: Snapshot | None = None
) -> GameState:
    """The game as the call's viewer may see it: now, or as it was when an earlier request of its was accepted."""
    game = live.game
    if shown is None:
        shown = game.now
        if game.over and player is not None:
            call.unacknowledged.show(player, live)
    elapsed = 0.0 if game.clock is None else call.services.arbiter.elapsed(live, call.arrived)
    return views.game_state(game, shown, elapsed, call.viewer, brief=brief)


def _shared_state(live: LiveGame, call: Call, *, brief: bool) -> GameState:
    elapsed = call.services.arbiter.elapsed(live, call.arrived)
    return live.shared_view(call.viewer, brief=brief).at(live.game, elapsed, call.viewer)


def names_in(state: GameState, call: Call) -> PlayerNames | UnsetType:
    """What the players of a game are called; unset where neither is registered."""
    white, black = (_name_of(player, call) for player in (state.player_white, state.player_black))
    return UNSET if white is None and black is None else PlayerNames(white=white, black=black)


def _name_of(player: int | None, call: Call) -> str | None:
    account = None if player is None else call.services.authenticator.registry.get(player)
    return None if account is None else account.name


def state_answer(
    request: Request,
    live: LiveGame,
    player: int | None,
    call: Call,
    *,
    shown: Snapshot | None = None,
    with_actions: bool = False,
    name_game: bool = False,
    name_players: bool = False,
    shared: bool = False,
) -> Answer:
    """The reply that shows a game's state.

    :param with_actions: add what the call's viewer may do now.
    :param name_game: say beside the state which game it is.
    :param name_players: say beside the state what its players are called.
    :param shared: show a spectator the present as it is encoded once for all of them.
    """
    senses, moves = views.actions(live.game, call.viewer) if with_actions else (UNSET, UNSET)
    if shared:
        state = _shared_state(live, call, brief=request.brief)
    else:
        state = state_of(live, player, call, brief=request.brief, shown=shown)
    reply = StateReply(
        id=echo_id(request),
        game_id=live.game.id if name_game else UNSET,
        state=state,
        sense_actions=senses,
        move_actions=moves,
        names=names_in(state, call) if name_players else UNSET,
    )
    return Answer(reply, live.commit_for(call.viewer))


def sense_answer(request: Request, live: LiveGame, player: int, call: Call, *, shown: Snapshot | None) -> Answer:
    """The reply to a sense."""
    known = live.game.knowledge_of(shown or live.game.now, call.viewer.seat)
    assert isinstance(known.sense, LastSense)  # it has just sensed
    reply = SenseReply(
        id=echo_id(request),
        sense_result=known.sense.sense_result,
        state=state_of(live, player, call, brief=request.brief, shown=shown),
    )
    return Answer(reply, live.commit_for(call.viewer))


def move_answer(request: Request, live: LiveGame, player: int, call: Call, *, shown: Snapshot | None) -> Answer:
    """The reply to a move where something is hidden: it says what came of it."""
    known = live.game.knowledge_of(shown or live.game.now, call.viewer.seat)
    assert isinstance(known.result, LastResult)  # it has just moved
    reply = MoveReply(
        id=echo_id(request),
        requested_move=known.result.requested_move,
        taken_move=known.result.taken_move,
        capture_square=known.result.capture_square,
        state=state_of(live, player, call, brief=request.brief, shown=shown),
    )
    return Answer(reply, live.commit_for(call.viewer))
