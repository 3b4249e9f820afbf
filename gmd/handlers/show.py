"""What handlers share: finding a game, and showing it as it stands."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from gm_protocol.codec import echo_id
from gm_protocol.messages import Request, StateReply
from gm_protocol.state import Color, GameState
from gmd.games import views
from gmd.games.game import Snapshot
from gmd.shelf import Table

from .call import Answer, Call, authorise


async def find(game_id: int, player: int | None, call: Call) -> Table:
    """The game a request names, as it stands when the request arrives; its player has been heard from.

    :raises NoSuchGame: there is none.
    :raises Unauthorized: the player may not be acted for.
    """
    table = call.table = call.arbiter.at_hand(game_id) or await call.arbiter.table(game_id)
    authorise(player, call)
    if table.game.clock is not None:
        call.arbiter.look(table, call.arrived)
        if player is not None:
            call.arbiter.hear(table, player, call.arrived)
    return table


def state_of(table: Table, player: int | None, call: Call, *, brief: bool, shown: Snapshot | None = None) -> GameState:
    """The game as the player may see it: now, or as it was when an earlier request of its was accepted."""
    game = table.game
    if shown is None:
        shown = game.now
        if game.over and player is not None:
            call.arbiter.turns.shown(player, table)
    return views.game_state(game, shown, call.arbiter.thought(table, call.arrived), brief=brief)


def state_answer(
    request: Request,
    table: Table,
    player: int | None,
    call: Call,
    *,
    shown: Snapshot | None = None,
    actions_for: list[str] | UnsetType | None = UNSET,
    name_game: bool = False,
) -> Answer:
    """The reply that shows a game's state.

    :param actions_for: moves to add, as the request asked for them.
    :param name_game: whether the reply says beside the state which game it is.
    """
    reply = StateReply(
        id=echo_id(request),
        game_id=table.game.id if name_game else UNSET,
        state=state_of(table, player, call, brief=request.brief, shown=shown),
        sense_actions=UNSET if actions_for is UNSET else None,
        move_actions=actions_for,
    )
    return Answer(reply, table.commit)


def actions_of(table: Table, player: int | None, named: Color | None) -> list[str] | None:
    """The moves of the player's seat; None off its turn, or where it has none."""
    game = table.game
    if player is None or not game.seats(player):
        return None
    return views.actions(game, game.seat_of(player, named))
