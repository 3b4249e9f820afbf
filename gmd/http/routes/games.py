"""``/api/games/ID/...``: what a player of an RBC game asks about it.

These requests start no clock and do not count as presence: in reconchess only ``ready`` says that a player is present.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

import chess
import msgspec
from litestar import get
from litestar.params import QueryParameter
from msgspec import Raw, Struct

from gm_recon import ReconBoard
from gmd.games.clock import MAX_SECONDS
from gmd.handlers.in_process import Refused
from gmd.http.api_clients import ApiClient, FromApiClient
from gmd.http.backend import Backend, FromDaemon
from gmd.http.errors import UNAUTHORIZED, documented
from gmd.http.reconchess import Board, Move, WinReason, square, win_reason
from gmd.http.seat import GameId, Seat, ending_of, look, look_at_ended, take_seat, winner_of

#: The longest time a client may have its status request held: less than the timeouts of proxies and HTTP clients.
MAX_STATUS_SECONDS = 30.0

#: The manual's descriptions of the refusals.
NO_PLAYER = "Invalid or empty authentication information, or not a player in the specified game."
NO_GAME = "Game does not exist."
NOT_OVER = "Game is not over."
BOTH_SEATS = "The player holds both seats, and HTTP has no way to say which one is meant."

PLAYERS = documented(bad_request=BOTH_SEATS, unauthorized=NO_PLAYER, not_found=NO_GAME)
ANYBODY = documented(bad_request=BOTH_SEATS, unauthorized=UNAUTHORIZED, not_found=NO_GAME)
ENDED = documented(bad_request=NOT_OVER, unauthorized=UNAUTHORIZED, not_found=NO_GAME)


class PlayerColor(Struct, frozen=True):
    """True for White, false for Black."""

    color: bool


class StartingBoard(Struct, frozen=True):
    """The position the game began from."""

    board: Board


class OpponentName(Struct, frozen=True):
    """A registered player's name, a guest's number, or ? while the other seat is open."""

    opponent_name: str


class SenseActions(Struct, frozen=True):
    """Squares that may be sensed."""

    sense_actions: list[int]


class MoveActions(Struct, frozen=True):
    """Moves that may be asked for."""

    move_actions: list[Move]


class SecondsLeft(Struct, frozen=True):
    """A player's time. A game without clocks has ten million seconds left."""

    seconds_left: float


class OpponentMoveResults(Struct, frozen=True):
    """Where the opponent captured in its latest turn, if it did."""

    opponent_move_results: int | None


class IsOver(Struct, frozen=True):
    """Whether the game is over."""

    is_over: bool


class IsMyTurn(Struct, frozen=True):
    """Whether it is the asking player's turn."""

    is_my_turn: bool


class GameStatus(Struct, frozen=True):
    """Whether it is the player's turn, and whether the game is over."""

    is_my_turn: bool
    is_over: bool


class WinnerColor(Struct, frozen=True):
    """True for White, false for Black, null for a draw."""

    winner_color: bool | None


class WhyOver(Struct, frozen=True):
    """Why the game ended; null where it was called off before it began."""

    win_reason: WinReason | None


class _Record(Struct, frozen=True):
    """The part of the ``history`` reply that reconchess knows."""

    history: Raw


class WholeGame(Struct, frozen=True):
    """What ``reconchess.GameHistory`` saves and loads."""

    game_history: dict[str, Any]


@get("/color", summary="The colour you play", responses=PLAYERS)
async def color(game_id: GameId, client: FromApiClient) -> PlayerColor:
    """Return the player's colour; White is true."""
    return PlayerColor((await take_seat(client, game_id)).color)


@get("/starting_board", summary="The position the game began from", responses=PLAYERS)
async def starting_board(game_id: GameId, client: FromApiClient) -> StartingBoard:
    """Return the starting position, which both players know."""
    return StartingBoard(Board((await take_seat(client, game_id)).state.start_fen))


@get("/opponent_name", summary="Who you play against", responses=PLAYERS)
async def opponent_name(game_id: GameId, client: FromApiClient, backend: FromDaemon) -> OpponentName:
    """Return the opponent's name."""
    return OpponentName(_name((await take_seat(client, game_id)).opponent, backend))


@get("/sense_actions", summary="The squares you may sense", responses=PLAYERS)
async def sense_actions(game_id: GameId, client: FromApiClient) -> SenseActions:
    """Return all squares while the player must sense, and after the end of the game; else none."""
    seat = await take_seat(client, game_id)
    return SenseActions(list(chess.SQUARES) if seat.over or seat.state.phase == "sense" else [])


@get("/move_actions", summary="The moves you may ask for", responses=PLAYERS)
async def move_actions(game_id: GameId, client: FromApiClient) -> MoveActions:
    """Return the moves of the player's own pieces on its turn, and where the game ended in its turn; else none."""
    seat = await take_seat(client, game_id)
    if seat.over:
        return MoveActions(_at_the_end(seat))
    reply = await client.ask("actions", game_id=game_id)
    return MoveActions([Move(uci) for uci in reply["move_actions"] or ()])


@get("/seconds_left", summary="The time you have left", responses=PLAYERS)
async def seconds_left(game_id: GameId, client: FromApiClient) -> SecondsLeft:
    """Return the remaining time, also after the game: reconchess's client takes a refusal for a broken game."""
    left = (await take_seat(client, game_id)).seconds_left
    return SecondsLeft(MAX_SECONDS if left is None else left)


@get("/opponent_move_results", summary="Where the opponent captured", responses=PLAYERS)
async def opponent_move_results(game_id: GameId, client: FromApiClient) -> OpponentMoveResults:
    """Return the square of the opponent's latest capture, if its latest turn had one, else null."""
    seat = await take_seat(client, game_id)
    captured = seat.state.opponent_capture
    return OpponentMoveResults(square(captured or None))


@get("/is_over", summary="Whether the game is over", responses=ANYBODY)
async def is_over(game_id: GameId, client: FromApiClient) -> IsOver:
    """Return whether the game is over; any registered player may ask."""
    return IsOver((await look(client, game_id)).phase == "over")


@get("/is_my_turn", summary="Whether it is your turn", responses=ANYBODY)
async def is_my_turn(game_id: GameId, client: FromApiClient) -> IsMyTurn:
    """Return whether it is the player's turn; never for a spectator."""
    return IsMyTurn((await _status(client, game_id)).is_my_turn)


@get("/game_status", summary="Both at once", responses=ANYBODY)
async def game_status(
    game_id: GameId,
    client: FromApiClient,
    wait: Annotated[
        float, QueryParameter(ge=0, le=MAX_STATUS_SECONDS, description="Seconds to hold the answer for, at most.")
    ] = 0.0,
) -> GameStatus:
    """Return both values, which a player polls until it is its turn. Without ``wait`` the answer comes at once.

    With ``wait`` the answer is held until one of them is true. This is opt-in: a client that thinks between two
    requests sends the same requests as one that sleeps, and could not think while its answer is held.
    """
    status = await _status(client, game_id)
    if status.is_my_turn or status.is_over or not wait:
        return status
    try:
        await client.ask("wait", game_id=game_id, brief=True, timeout=wait)
    except Refused as refused:
        if refused.code != "not_a_player":
            raise
        return status  # a spectator has no turn to wait for
    return await _status(client, game_id)


@get("/winner_color", summary="Who has won", responses=ENDED)
async def winner_color(game_id: GameId, client: FromApiClient) -> WinnerColor:
    """Return the winner's colour; null for a draw."""
    return WinnerColor(winner_of(await look_at_ended(client, game_id)))


@get("/win_reason", summary="Why the game ended", responses=ENDED)
async def why_over(game_id: GameId, client: FromApiClient) -> WhyOver:
    """Return why the game ended; draws have a reason too."""
    return WhyOver(win_reason(ending_of(await look_at_ended(client, game_id))))


@get("/game_history", summary="The whole game", responses=ENDED)
async def game_history(game_id: GameId, client: FromApiClient) -> WholeGame:
    """Return the game in the form that ``reconchess.GameHistory`` loads."""
    await look_at_ended(client, game_id)
    reply = msgspec.json.decode(await client.ask_encoded("history", game_id=game_id), type=_Record)
    return WholeGame(cast(dict[str, Any], reply.history))  # passed on unparsed: parsing it would block the event loop


async def _status(client: ApiClient, game_id: int) -> GameStatus:
    state = await look(client, game_id)
    return GameStatus(is_my_turn=state.phase in ("sense", "move"), is_over=state.phase == "over")


def _at_the_end(seat: Seat) -> list[Move]:
    """Return the moves open to the player in the turn that the game's end cut short; nothing is hidden any more."""
    if not seat.to_move:
        return []
    return [Move(move.uci()) for move in ReconBoard.of(chess.Board(seat.state.fen)).move_actions()]


def _name(player: int | None, backend: Backend) -> str:
    if player is None:
        return "?"
    account = backend.services.authenticator.registry.get(player)
    return str(player) if account is None else account.name
