"""``end_game``: resignations, draws claimed and draws agreed."""

from __future__ import annotations

import chess

from gm_protocol.endings import Cause, Voluntary, read_ending
from gm_protocol.errors import BadRequest, GmError, NotAPlayer
from gm_protocol.messages import EndGame, VoluntaryTermination
from gm_protocol.state import side_of
from gmd.games.commands import End
from gmd.games.game import Game, seat_name
from gmd.games.views import VIEWER_IN, Viewer
from gmd.live_games import LiveGame
from gmd.logger import get_logger

from .call import Answer, Call, actor_of, handles, player_of
from .show import find, state_answer

logger = get_logger(__name__)


@handles(EndGame)
async def end_game(request: EndGame, call: Call) -> Answer:
    """End it, or show again how it ended."""
    cause, side = _asked(request.termination)
    if call.is_operator and player_of(request, call) is None:
        return await _as_operator(request, cause, side, call)
    player = actor_of(request, call)
    live = await find(request.game_id, player, call)
    seat = _seat(live.game, player, side, request)
    call.viewer = VIEWER_IN[seat]
    return _end(request, live, player, seat, cause, call)


def _asked(termination: VoluntaryTermination) -> tuple[Voluntary, chess.Color | None]:
    """The cause that a player asks for, and the side that the word names; None for a draw agreed."""
    ending = read_ending(termination)
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


async def _as_operator(request: EndGame, cause: Voluntary, side: chess.Color | None, call: Call) -> Answer:
    """For the seat that the request names, whoever holds it: nobody has been heard from by that."""
    seat = side_of(request.seat) if side is None else side
    if seat is None:
        raise BadRequest(f"seat: {request.termination!r} needs the one the operator acts for, or its player")
    live = await find(request.game_id, None, call)
    call.viewer = Viewer.OVERSEER
    return _end(request, live, None, seat, cause, call)


def _end(
    request: EndGame, live: LiveGame, player: int | None, seat: chess.Color, cause: Voluntary, call: Call
) -> Answer:
    ended = End(seat, cause, request.ply, request.thought)
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


def _seat(game: Game, player: int, side: chess.Color | None, request: EndGame) -> chess.Color:
    """The seat of the side that the termination names; for a draw agreed, the player's own."""
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
