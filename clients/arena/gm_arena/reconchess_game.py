"""Games on a gm server, over TCP, for programs written for reconchess: each is a ``reconchess.Game``.

:class:`ServerGame` replaces ``LocalGame``; this program plays both seats::

    with connect(player=1) as client:
        play_local_game(RandomBot(), TroutBot(), ServerGame(client, client))

:class:`ServerSeat` replaces ``RemoteGame`` for one seat of a game, and :func:`play_seat` replaces
``play_remote_game``. reconchess is imported here: nothing else of this package imports this module.

The server answers every question, and every action is safe to send again after a lost connection: the bot notices
neither a lost connection nor a restart of the server.
"""

from __future__ import annotations

import json
import math
from typing import Any, cast

import chess
from chess import Board, Move, Piece, Square
from reconchess import Game, GameHistory, GameHistoryDecoder, LocalGame, Player, WinReason, play_turn

from gm_client.blocking import Client, Color, GameState, GmError, StateActionsReply, WaitReply
from gm_client.rbc import possible_moves, read_move, read_sense, read_square
from gm_protocol.endings import Cause, Ending

__all__ = ["ServerGame", "ServerSeat", "play_seat"]

_COLORS: tuple[Color, Color] = ("black", "white")

MoveResult = tuple[Move | None, Move | None, Square | None]


class ServerSeat(Game):  # type: ignore[misc]
    """One seat of a game, with the methods of ``RemoteGame``.

    A refusal is a :class:`~gm_client.blocking.GmError`, except for an illegal move, which is reconchess's
    ``ValueError``. An action that comes after the end of the game has no effect, as in a finished ``LocalGame``.
    """

    def __init__(self, client: Client, game_id: int, color: chess.Color | None = None) -> None:
        """:param color: needed where the player holds both seats; default: the seat it holds, or is invited to.

        :raises ValueError: the client's player holds no seat, or both.
        """
        self.game_id = game_id
        self._client = client
        self._state: GameState | None = None  # None where it may have changed since the last reply
        self._senses: list[str] = []  # the actions of the current turn
        self._moves: list[str] = []
        self._ended: GameHistory | None = None
        self._color = _color_of(client, game_id) if color is None else color
        self._seat: Color = _COLORS[self._color]

    # --- The seat -----------------------------------------------------------------------------------------------

    def get_player_color(self) -> chess.Color:
        """Return True for White."""
        return self._color

    def get_starting_board(self) -> Board:
        """Return the position that the game began from."""
        return Board(_seen_by_nobody(self._client, self.game_id)["start_fen"])

    def get_opponent_name(self) -> str:
        """Return the opponent's name, or its id if it has none."""
        shown = self._client.state(self.game_id, player=None, brief=True)
        player = shown["state"]["player_black" if self._color else "player_white"]
        return shown.get("names", {}).get(_COLORS[not self._color]) or str(player)

    # --- The turn -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take the seat if it is free, and be present: a clock starts once both players are."""
        self._client.join(self.game_id, seat=self._seat, brief=True)

    def is_my_turn(self) -> bool:
        """Return whether the game waits for this seat."""
        return self._look()["phase"] in ("sense", "move")

    def sense_actions(self) -> list[Square]:
        """Return the squares that may be sensed now."""
        return [chess.parse_square(name) for name in self._senses] if self._turn()["phase"] == "sense" else []

    def move_actions(self) -> list[Move]:
        """Return the moves that may be requested in the current turn."""
        return [Move.from_uci(uci) for uci in self._moves] if self._turn()["phase"] in ("sense", "move") else []

    def get_seconds_left(self) -> float:
        """Return the seconds on the server's clock when it answers; infinite in a game without one."""
        if self._turn()["clock"] is None:
            return math.inf
        clock = self._look()["clock"]
        seconds = None if clock is None else clock[self._seat]
        return math.inf if seconds is None else seconds

    def opponent_move_results(self) -> Square | None:
        return read_square(self._turn().get("opponent_capture"))

    def sense(self, square: Square | None) -> list[tuple[Square, Piece | None]]:
        if square is not None and square not in chess.SQUARES:
            raise ValueError(f"sense({square}): {square} is not a valid square.")
        name = None if square is None else chess.SQUARE_NAMES[square]
        sensed = self._act("sense", square=name)
        return [] if sensed is None else [(at, piece) for at, piece in read_sense(sensed["sense_result"])]

    def move(self, requested_move: Move | None) -> MoveResult:
        """Make a move; the server ends the turn and switches the clock."""
        return self.try_move(requested_move) or (requested_move, None, None)

    def try_move(self, requested_move: Move | None) -> MoveResult | None:
        """Make a move, as :meth:`move` does, but return None where the game has ended."""
        if requested_move == Move.null():  # a pass to the server, but not a move in reconchess
            raise _not_among_actions(requested_move)
        try:
            moved = self._act("move", move=None if requested_move is None else requested_move.uci())
        except GmError as error:
            if error.code != "illegal_move":
                raise
            raise _not_among_actions(requested_move) from None
        if moved is None:
            return None
        return requested_move, read_move(moved["taken_move"]), read_square(moved["capture_square"])

    def end_turn(self) -> None:
        """Do nothing: the move has ended the turn."""

    def resign(self) -> None:
        """Resign, in either player's turn."""
        self._act("end_game", termination=Ending.by(Cause.RESIGNATION, self._color).termination)

    # --- The end --------------------------------------------------------------------------------------------------

    def is_over(self) -> bool:
        """Block until it is this seat's turn or the game is over; return whether it is over."""
        state = self._look()
        while state["phase"] not in ("sense", "move", "over"):
            state = self._learn(self._client.wait(self.game_id, seat=self._seat, brief=True, actions=True))
        return state["phase"] == "over"

    def has_ended(self) -> bool:
        """Return whether the game is over, without waiting."""
        return self._ended is not None or self._look()["phase"] == "over"

    def get_winner_color(self) -> chess.Color | None:
        return None if (history := self.get_game_history()) is None else history.get_winner_color()

    def get_win_reason(self) -> WinReason | None:
        return None if (history := self.get_game_history()) is None else history.get_win_reason()

    def get_game_history(self) -> GameHistory | None:
        """Return the history, whose names are ids; None until the game is over."""
        if self._ended is None and self.has_ended():
            record = self._client.history(self.game_id)["history"]
            self._ended = json.loads(json.dumps(record), cls=GameHistoryDecoder)
        return self._ended

    # --- Requests ---------------------------------------------------------------------------------------------------

    def _look(self) -> GameState:
        return self._learn(self._client.state(self.game_id, seat=self._seat, brief=True, actions=True))

    def _learn(self, reply: StateActionsReply | WaitReply) -> GameState:
        assert reply["state"] is not None  # only a wait for several games has none
        self._state = reply["state"]
        self._senses, self._moves = reply.get("sense_actions") or [], reply.get("move_actions") or []
        return self._state

    def _turn(self) -> GameState:
        """Return the latest state: the cached one, unless the opponent may have changed it."""
        if self._state is not None and self._state["phase"] in ("sense", "move", "over"):
            return self._state
        return self._look()

    def _act(self, kind: str, **action: Any) -> dict[str, Any] | None:
        """Act in the current turn; return None if the game has ended.

        The request names the turn, so that the server executes it once, however often it is sent.
        """
        fields = {"game_id": self.game_id, "seat": self._seat, "ply": self._turn()["ply_index"], "brief": True}
        try:
            reply: dict[str, Any] = self._client.request(kind, **fields, **action)
        except GmError as error:
            if error.code != "game_over":
                raise
            self._state = None
            return None
        self._state = reply["state"]
        return reply


class ServerGame(Game):  # type: ignore[misc]
    """Both seats of a new game, with the methods and the attributes of ``LocalGame``.

    As there, ``board`` is the true position, and may be replaced before :meth:`start`, which makes the game.
    ``turn`` is the side to move until :meth:`end_turn`; only the clock switches with the move. A turn is one sense and
    then one move.

    Before :meth:`start` every method works as in ``LocalGame``, without the server: moves made then set the start
    position, and appear only in the history of a game that is never started. A game that is over before is not started.
    After the end of the game :meth:`sense` and :meth:`move` do nothing.

    A refusal is a :class:`~gm_client.blocking.GmError`; only an impossible square or move is a ValueError.
    """

    def __init__(
        self,
        white: Client,
        black: Client,
        seconds_per_player: float | None = 900,
        seconds_increment: float | None = 5,
        reversible_moves_limit: int | None = 100,
        full_turn_limit: int | None = None,
    ) -> None:
        """:param white: the client whose player plays White; both may have the same player, or be the same client.

        The other parameters are those of ``LocalGame``: None is no limit, and 0 seconds of increment.

        :raises ValueError: a client has no player.
        """
        if white.player is None or black.player is None:
            raise ValueError("white, black: each client needs a player, as in connect(player=1)")
        clock = None
        if seconds_per_player is not None:
            clock = {"initial": seconds_per_player, "increment": seconds_increment or 0}
        self._options: dict[str, Any] = {
            "variant": "rbc",
            "clock": clock,
            "reversible_moves": reversible_moves_limit,
            "max_turns": full_turn_limit,
        }
        self.board = Board()
        self.turn: chess.Color = chess.WHITE
        #: Answers every call until the game is on the server.
        self._before = LocalGame(seconds_per_player, seconds_increment, reversible_moves_limit, full_turn_limit)
        self._clients = (black, white)
        self._seats: tuple[ServerSeat, ServerSeat] | None = None
        self._names: tuple[str | None, str | None] = (None, None)
        self._is_finished = False
        self._called_off = False  # ended by end(), and by nothing in the game

    @property
    def _now(self) -> ServerSeat | Any:
        """The seat of the side to move; before the start a LocalGame with the same position."""
        if self._seats is not None:
            return self._seats[self.turn]
        self._before.board, self._before.turn = self.board, self.turn
        return self._before

    @property
    def game_id(self) -> int:
        """The game's number on the server.

        :raises RuntimeError: the game is not started, or was over before it could start.
        """
        if self._seats is None:
            raise RuntimeError("the game is not on the server: call start(); a game that is over before has no id")
        return self._seats[chess.WHITE].game_id

    # --- Before and after ----------------------------------------------------------------------------------------

    def store_players(self, white_name: str | None, black_name: str | None) -> None:
        """Set the players' names for the history."""
        self._names = (white_name, black_name)

    def start(self) -> None:
        """Make the game and join both seats. Do nothing if it was made already or is over."""
        if self._seats is not None or self.is_over():
            return
        black, white = self._clients
        fen = self.board.fen(en_passant="fen")
        made = white.new_game(white.player, black.player, fen=fen, brief=True, **self._options)
        game_id = made["game_id"]
        self._seats = (ServerSeat(black, game_id, chess.BLACK), ServerSeat(white, game_id, chess.WHITE))
        self.turn = self.board.turn
        for seat in self._seats:
            seat.start()

    def end(self) -> None:
        """End the game here. On the server a game must have a winner: there the side to move resigns."""
        if self._seats is None:
            self._now.end()
        elif not self.is_over():
            self._called_off = True
            self._now.resign()
        self._is_finished = True

    def resign(self) -> None:
        """Resign for the side to move."""
        self._now.resign()

    # --- The turn -------------------------------------------------------------------------------------------------

    def get_seconds_left(self) -> float:
        """Return the seconds of the side to move."""
        return self._now.get_seconds_left()

    def sense_actions(self) -> list[Square] | None:
        """Return every square, as LocalGame does even after the sense; None after :meth:`end`."""
        return None if self._is_finished else list(chess.SQUARES)

    def move_actions(self) -> list[Move] | None:
        """Return the moves that the server lets the side to move request; None after :meth:`end`.

        While the game is not on the server, return the moves that the side could request.
        """
        if self._is_finished:
            return None
        if self._seats is not None:
            moves = self._seats[self.board.turn].move_actions()
            if moves or not self.is_over():
                return moves
        return possible_moves(self.board)

    def opponent_move_results(self) -> Square | None:
        return self._now.opponent_move_results()

    def sense(self, square: Square | None) -> list[tuple[Square, Piece | None]]:
        return [] if self._is_finished else self._now.sense(square)

    def move(self, requested_move: Move | None) -> MoveResult:
        if self._seats is None:
            return cast(MoveResult, self._now.move(requested_move))
        if self._is_finished:
            return requested_move, None, None
        result = self._seats[self.turn].try_move(requested_move)
        if result is None:
            return requested_move, None, None
        self.board.push(result[1] or Move.null())
        return result

    def end_turn(self) -> None:
        self.turn = not self.turn

    # --- The end --------------------------------------------------------------------------------------------------

    def is_over(self) -> bool:
        if self._seats is None:
            return bool(self._now.is_over())
        return self._is_finished or self._seats[self.board.turn].has_ended()

    def get_winner_color(self) -> chess.Color | None:
        return None if self._called_off else self._now.get_winner_color()

    def get_win_reason(self) -> WinReason | None:
        return None if self._called_off else self._now.get_win_reason()

    def get_game_history(self) -> GameHistory | None:
        """Return the history; None until the game is over."""
        if not self.is_over():
            return None
        history = self._now.get_game_history() or GameHistory()
        history.store_players(*self._names)
        if self._called_off:
            history.store_results(None, None)
        return history


def play_seat(seat: ServerSeat, player: Player) -> tuple[chess.Color | None, WinReason | None, GameHistory]:
    """Play a game on a gm server to its end and report the end to the player, as ``play_remote_game`` does."""
    player.handle_game_start(seat.get_player_color(), seat.get_starting_board(), seat.get_opponent_name())
    seat.start()
    while not seat.is_over():
        play_turn(seat, player, end_turn_last=False)
    end = seat.get_winner_color(), seat.get_win_reason(), seat.get_game_history()
    player.handle_game_end(*end)
    return end


def _color_of(client: Client, game_id: int) -> chess.Color:
    """Return the seat that a client's player holds.

    :raises ValueError: it holds no seat, or both.
    """
    state = _seen_by_nobody(client, game_id)
    held = [color for color in chess.COLORS if state[f"player_{_COLORS[color]}"] == client.player]  # type: ignore[literal-required]
    if len(held) != 1 or client.player is None:
        count = "both seats" if len(held) == 2 else "no seat"
        raise ValueError(f"color: player {client.player} has {count} in game {game_id}")
    return held[0]


def _seen_by_nobody(client: Client, game_id: int) -> GameState:
    """Return a game as spectators see it: a player's own request would start its clock, and the seat may be free."""
    return client.state(game_id, brief=True, player=None)["state"]


def _not_among_actions(move: Move | None) -> ValueError:
    return ValueError(f"Requested move {move} was not in move_actions()")
