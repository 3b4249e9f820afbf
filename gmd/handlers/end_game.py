"""``end_game``: resignations, draws claimed and draws agreed."""

from __future__ import annotations

import chess

from gm_protocol.endings import Cause, Voluntary, read_ending
from gm_protocol.errors import BadRequest, GmError, NotAPlayer
from gm_protocol.messages import EndGame
from gm_protocol.state import side_of
from gmd.games.commands import End
from gmd.games.game import Game, seat_name
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
    if _asked(request)[1] is None and request.seat is None:
        raise BadRequest(f"seat: {request.termination!r} needs the one the operator acts for, or its player")
    return request.seat


async def end_game(request: EndGame, live: LiveGame, context: RequestContext) -> PendingReply:
    """End it, or show again how it ended."""
    cause, side = _asked(request)
    seat, viewer = _asked_by(request, side, live.game, context)
    decision = act(live, End(seat, cause, request.ply, request.thought), viewer, context)
    if context.session.is_operator and decision.events and live.game.over:
        _note(request, live)
    return state_answer(live, viewer, context, shown=decision.shown)


def _asked(request: EndGame) -> tuple[Voluntary, chess.Color | None]:
    """Return the cause that a player asks for, and the side that the word names; None for a draw agreed."""
    ending = read_ending(request.termination)
    assert ending is not None
    match ending.cause:
        case Cause.RESIGNATION:
            return ending.cause, ending.loser
        case Cause.DRAW_CLAIM:
            return ending.cause, ending.claimant
        case Cause.AGREEMENT:
            return ending.cause, None
        case other:
            raise AssertionError(f"no player asks for {other}")


def _asked_by(
    request: EndGame, side: chess.Color | None, game: Game, context: RequestContext
) -> tuple[chess.Color, Viewer]:
    """Return the seat that asks, and who is shown what comes of it."""
    if context.player is not None:
        seat = _seat(game, context.player, side, request)
        return seat, VIEWER_IN[seat]
    named = side_of(request.seat) if side is None else side
    assert named is not None  # names_seat has looked
    return named, Viewer.OVERSEER


def _note(request: EndGame, live: LiveGame) -> None:
    """Log once that the operator has ended a game, when that cannot be lost any more."""

    def settled(error: GmError | None) -> None:
        if error is None:
            logger.info("ended by the operator", game_id=request.game_id, termination=request.termination)

    if live.commit is None:
        settled(None)
    else:
        live.commit.then(settled)


def _seat(game: Game, player: int, side: chess.Color | None, request: EndGame) -> chess.Color:
    """Return the seat of the side that the termination names; for a draw agreed, the player's own."""
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
