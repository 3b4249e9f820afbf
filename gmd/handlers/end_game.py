"""``end_game``: resignations, draw claims and draw agreements."""

from __future__ import annotations

import chess

from gm_protocol.endings import Voluntary, is_voluntary, read_ending
from gm_protocol.errors import BadRequest, GmError, NotAPlayer
from gm_protocol.messages import EndGame
from gm_protocol.state import side_of
from gmd.games.commands import End
from gmd.games.game import Game, seat_name
from gmd.games.views import VIEWER_IN, Viewer
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import act, in_game, state_answer
from gmd.logger import get_logger
from gmd.play.live_games import LiveGame

logger = get_logger(__name__)


def _names_seat(request: EndGame, context: RequestContext) -> object:
    """Check that the request names a player or, from the operator, a seat instead; return it.

    :raises BadRequest: it names neither.
    """
    if context.player is not None or not context.session.is_operator:
        return context.actor
    if _asked(request)[1] is None and request.seat is None:
        raise BadRequest(f"seat: missing; {request.termination!r} needs a seat or a player to act for")
    return request.seat


@in_game(check=_names_seat, acts=True)
async def end_game(request: EndGame, live: LiveGame, context: RequestContext) -> PendingReply:
    """End the game, or show again how it ended."""
    cause, side = _asked(request)
    seat, viewer = _asked_by(request, side, live.game, context)
    decision = act(live, End(seat, cause, request.ply, request.thought), viewer, context)
    if context.session.is_operator and decision.events and live.game.over:
        _note(request, live)
    return state_answer(live, viewer, context, shown=decision.shown)


def _asked(request: EndGame) -> tuple[Voluntary, chess.Color | None]:
    """Return the requested cause, and the side that the termination names; None for a draw agreement."""
    ending = read_ending(request.termination)
    assert ending is not None
    assert is_voluntary(ending.cause)
    return ending.cause, ending.side


def _asked_by(
    request: EndGame, side: chess.Color | None, game: Game, context: RequestContext
) -> tuple[chess.Color, Viewer]:
    """Return the seat that the request is for, and the viewer of the reply."""
    if context.player is not None:
        seat = _seat(game, context.player, side, request)
        return seat, VIEWER_IN[seat]
    named = side_of(request.seat) if side is None else side
    assert named is not None  # _names_seat has checked this
    return named, Viewer.OVERSEER


def _note(request: EndGame, live: LiveGame) -> None:
    """Log that the operator has ended a game, once that is durable."""

    def settled(error: GmError | None) -> None:
        if error is None:
            logger.info("ended by the operator", game_id=request.game_id, termination=request.termination)

    if live.commit is None:
        settled(None)
    else:
        live.commit.then(settled)


def _seat(game: Game, player: int, side: chess.Color | None, request: EndGame) -> chess.Color:
    """Return the seat of the side that the termination names; for a draw agreement, the player's own seat."""
    named = side_of(request.seat)
    if side is None:
        return game.seat_of(player, named, request.ply)
    if named is not None or not game.seats(player):
        game.seat_of(player, named, request.ply)
    if side not in game.seats(player):
        color = seat_name(side)
        raise NotAPlayer(
            f"termination: {request.termination!r} is {color}'s to ask for, and player {player} does not hold "
            f"{color}'s seat in game {game.id}"
        )
    return side
