"""``end_game``: resignations, draws claimed and draws agreed."""

from __future__ import annotations

import chess

from gm_protocol.errors import NotAPlayer
from gm_protocol.messages import EndGame
from gmd.games.game import End, Game
from gmd.games.views import VIEWER_IN

from .call import Answer, Call, actor_of, handles
from .show import find, state_answer


@handles(EndGame)
async def end_game(request: EndGame, call: Call) -> Answer:
    """End it, or show again how it ended."""
    player = actor_of(request, call)
    table = await find(request.game_id, player, call)
    seat = _seat(table.game, player, request)
    call.viewer = VIEWER_IN[seat]
    outcome = call.arbiter.act(table, End(seat, request.termination, request.ply), call.arrived)
    if outcome.refusal is not None:
        raise outcome.refusal
    return state_answer(request, table, player, call, shown=outcome.shown)


def _seat(game: Game, player: int, request: EndGame) -> chess.Color:
    """The seat that the termination's colour names; for a draw agreed, the player's own."""
    _, _, color = request.termination.rpartition("_")
    if color not in chess.COLOR_NAMES:
        return game.seat_of(player, request.seat, request.ply)
    if request.seat is not None or not game.seats(player):
        game.seat_of(player, request.seat, request.ply)
    named = color == "white"
    if named not in game.seats(player):
        raise NotAPlayer(
            f"termination: {request.termination!r} is {color}'s to ask for, and player {player} does not hold "
            f"{color}'s seat in game {game.id}"
        )
    return named
