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
from gmd.requests.context import PendingReply, RequestContext
from gmd.requests.games import act
from gmd.requests.show import state_answer

logger = get_logger(__name__)


def names_seat(request: EndGame, context: RequestContext) -> object:
    """Return who asks for the end: a player, or the seat that the operator names in place of its player.

    :raises BadRequest: the request names nobody.
    """
    if context.player is not None or not context.session.is_operator:
        return context.actor
    color = _color(request) or request.seat
    if color is None:
        raise BadRequest(f"seat: {request.termination!r} needs the one the operator acts for, or its player")
    return color


async def end_game(request: EndGame, live: LiveGame, context: RequestContext) -> PendingReply:
    """End it, or show again how it ended."""
    seat, viewer = _asked_by(request, live.game, context)
    ended = End(seat, request.termination, request.ply, request.thought)
    decision = act(live, ended, viewer, context)
    if context.session.is_operator and decision.events and live.game.over:
        _note(request, live)
    return state_answer(live, viewer, context, shown=decision.shown)


def _asked_by(request: EndGame, game: Game, context: RequestContext) -> tuple[chess.Color, Viewer]:
    """Return the seat that asks, and who is shown what comes of it."""
    if context.player is not None:
        seat = _seat(game, context.player, request)
        return seat, VIEWER_IN[seat]
    return (_color(request) or request.seat) == "white", Viewer.OVERSEER


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
