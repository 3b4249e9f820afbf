"""``/api/games/ID/...``: a player's actions in an RBC game.

A turn in reconchess has three steps: sense, move, end_turn. In gmd it has two, since the move ends the turn and starts
the opponent's clock; ``end_turn`` then finds the turn ended. A retry, sent because a reply was lost, gets the same
answer as before (:mod:`gmd.http.seat`). A request after the game's end is answered as ``reconchess.LocalGame`` does.
"""

from __future__ import annotations

from typing import Annotated, Literal

import chess
from litestar import post
from litestar.params import JSONBody
from msgspec import Meta, Struct

from gm_protocol.errors import IllegalMove, NotYourTurn, WrongPhase
from gmd.handlers.in_process import Refused
from gmd.http import reconchess
from gmd.http.api_clients import FromApiClient
from gmd.http.backend import FromDaemon
from gmd.http.errors import documented, documented_with_body
from gmd.http.reconchess import Move, Sensed, Square
from gmd.http.routes.games import BOTH_SEATS, NO_GAME, NO_PLAYER
from gmd.http.seat import GameId, Seat, take_seat

#: UCI's null move. The protocol reads it as a pass; ``reconchess.LocalGame`` raises, so it is refused here.
NULL_MOVE = chess.Move.null().uci()

PLAYERS = {"unauthorized": NO_PLAYER, "not_found": NO_GAME}


class Done(Struct, frozen=True):
    """An empty reply: clients expect JSON."""


class SenseAction(Struct, frozen=True):
    """What to sense: a square, or null for nothing."""

    square: Square | None


class SenseResult(Struct, frozen=True):
    """The squares around the one sensed, from the top left, and the piece on each."""

    sense_result: list[Sensed]


class RequestedMove(Struct, frozen=True):
    """A move as ``reconchess.ChessJSONEncoder`` writes it."""

    #: The longest UCI move.
    value: Annotated[str, Meta(max_length=5)]
    type: Literal["Move"]


class MoveAction(Struct, frozen=True):
    """The move asked for, or null to pass."""

    requested_move: RequestedMove | None


class MoveResult(Struct, frozen=True):
    """The move asked for, the move made, and the square it captured on."""

    move_result: tuple[Move | None, Move | None, int | None]


@post(
    "/ready", status_code=200, summary="Say that you are ready", responses=documented(bad_request=BOTH_SEATS, **PLAYERS)
)
async def ready(game_id: GameId, client: FromApiClient) -> Done:
    """Record that the player is ready. The clocks start once both players are; repeating it does nothing."""
    seat = await take_seat(client, game_id)
    await seat.ask("join")  # the player has its seat already: this only shows its presence
    return Done()


@post(
    "/sense",
    status_code=200,
    summary="Sense",
    responses=documented_with_body(
        bad_request="You already sensed, it is not your turn, or malformed request data.", **PLAYERS
    ),
)
async def sense(game_id: GameId, data: JSONBody[SenseAction], client: FromApiClient) -> SenseResult:
    """Sense around a square. The same sense again returns the same result; after the game's end it is empty."""
    seat = await take_seat(client, game_id)
    name = None if data.square is None else chess.SQUARE_NAMES[data.square]
    try:
        reply = await seat.ask("sense", square=name, ply=seat.ply_of_sense(name))
    except Refused as refused:
        if refused.code == "game_over":
            return SenseResult([])
        raise
    return SenseResult(reconchess.sensed(reply["sense_result"]))


@post(
    "/move",
    status_code=200,
    summary="Move, which ends the turn",
    responses=documented_with_body(
        bad_request="You have not sensed, it is not your turn, the move is not in move_actions, or malformed request "
        "data.",
        **PLAYERS,
    ),
)
async def move(game_id: GameId, data: JSONBody[MoveAction], client: FromApiClient) -> MoveResult:
    """Move, and return the result. The same move again returns the same result; after the game's end, none."""
    seat = await take_seat(client, game_id)
    requested = None if data.requested_move is None else data.requested_move.value
    if requested == NULL_MOVE and not seat.over:
        raise IllegalMove(f"requested_move: {NULL_MOVE}, the null move, is not in move_actions; send null to pass")
    try:
        reply = await seat.ask("move", move=requested, ply=seat.ply_of_move(requested))
    except Refused as refused:
        if refused.code == "game_over":
            return MoveResult((reconchess.move(requested), None, None))
        raise
    made, captured = reconchess.move(reply["taken_move"]), reconchess.square(reply["capture_square"])
    return MoveResult((reconchess.move(reply["requested_move"]), made, captured))


@post(
    "/end_turn",
    status_code=200,
    summary="End the turn; the move has already done so",
    responses=documented(bad_request="You have not sensed and moved.", **PLAYERS),
)
async def end_turn(game_id: GameId, client: FromApiClient) -> Done:
    """Change nothing: the move has ended the turn. reconchess's client sends this even after a game-ending move."""
    seat = await take_seat(client, game_id)
    if not seat.over:
        _check_ended(seat)
    return Done()


def _check_ended(seat: Seat) -> None:
    """Check that the seat's latest turn has ended. The opponent may have moved since, so that it is its turn again.

    :raises WrongPhase: the seat has sensed but not moved.
    :raises NotYourTurn: the seat has had no turn.
    """
    if seat.has_sensed:
        raise WrongPhase("you have sensed and not moved: a move ends the turn (null passes)")
    if not seat.has_moved:
        if seat.to_move:
            raise WrongPhase("you have neither sensed nor moved")
        raise NotYourTurn("you have had no turn yet")


@post(
    "/resign",
    status_code=200,
    summary="Resign",
    responses=documented(bad_request="It is not your turn, or the game is over.", **PLAYERS),
)
async def resign(game_id: GameId, client: FromApiClient) -> Done:
    """Resign, on the player's own turn only. Resigning again, because the reply was lost, does nothing."""
    seat = await take_seat(client, game_id)
    if not seat.over and not seat.may_act:
        raise NotYourTurn("it is not your turn: a player can resign only on its own turn")
    await seat.resign()
    return Done()


@post(
    "/error_resign",
    status_code=200,
    summary="Give up after an error",
    responses=documented(bad_request=BOTH_SEATS, **PLAYERS),
)
async def error_resign(game_id: GameId, client: FromApiClient, backend: FromDaemon) -> Done:
    """Let the player's time run out, whoever is to move; a game that is over stays as it ended.

    Without a clock, or before the opponent has accepted, the game is resigned.
    """
    seat = await take_seat(client, game_id)
    if not seat.over:
        await seat.run_out(backend.services.arbiter)
    return Done()
