"""``end_game``: resignations, draws claimed and draws agreed."""

from __future__ import annotations

import chess

from gm_protocol.errors import BadRequest, GmError, NotAPlayer
from gm_protocol.messages import EndGame
from gm_protocol.state import Color
from gmd.games.commands import End
from gmd.games.game import Game
from gmd.games.views import VIEWER_IN, Viewer
from gmd.live_games import LiveGame
from gmd.logger import get_logger
from gmd.requests.call import Answer, Call, actor_of, player_of
from gmd.requests.show import find, state_answer

logger = get_logger(__name__)


async def end_game(request: EndGame, call: Call) -> Answer:
    """End it, or show again how it ended."""
    if call.is_operator and player_of(request, call) is None:
        return await _as_operator(request, call)
    player = actor_of(request, call)
    live = await find(request.game_id, player, call)
    seat = _seat(live.game, player, request)
    call.viewer = VIEWER_IN[seat]
    return _end(request, live, player, seat, call)


async def _as_operator(request: EndGame, call: Call) -> Answer:
    """For the seat that the request names, whoever holds it: nobody has been heard from by that."""
    color = _color(request) or request.seat
    if color is None:
        raise BadRequest(f"seat: {request.termination!r} needs the one the operator acts for, or its player")
    live = await find(request.game_id, None, call)
    call.viewer = Viewer.OVERSEER
    return _end(request, live, None, color == "white", call)


def _end(request: EndGame, live: LiveGame, player: int | None, seat: chess.Color, call: Call) -> Answer:
    ended = End(seat, request.termination, request.ply, request.thought)
    decision = call.services.arbiter.act(live, ended, call.arrived)
    if decision.refusal is not None:
        raise decision.refusal
    if call.is_operator and decision.events and live.game.over:
        _note(request, live)
    return state_answer(request, live, player, call, shown=decision.shown)


def _note(request: EndGame, live: LiveGame) -> None:
    """Log once that the operator has ended a game, when that cannot be lost any more."""

    def settled(error: GmError | None) -> None:
        if error is None:
            logger.info("ended by the operator", game_id=request.game_id, termination=request.termination)

    if live.commit is None:
        settled(None)
    else:
        live.commit.then(settled)


def _seat(game: Game, player: int, request: EndGame) -> chess.Color:
    """The seat that the termination's colour names; for a draw agreed, the player's own."""
    color = _color(request)
    if color is None:
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


def _color(request: EndGame) -> Color | None:
    """The colour in the termination's name."""
    match request.termination.rpartition("_")[2]:
        case "white":
            return "white"
        case "black":
            return "black"
    return None
