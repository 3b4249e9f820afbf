"""The interface of a bot that plays reconnaissance blind chess, and games between two of them in this process."""

from __future__ import annotations

import json
import math
import sys
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import chess
from chess import Board, Color, Move, Piece, Square

from .board import not_a_square, not_allowed
from .game import ReconGame
from .history import History, WinReason


class Player(Protocol):
    """A bot that plays reconnaissance blind chess: the methods of ``reconchess.Player``, called in the same order.

    A class written for reconchess is one as it is. A new bot inherits from this class and has at least
    :meth:`choose_sense` and :meth:`choose_move`; the other methods do nothing here::

        class Randomly(Player):
            def choose_sense(self, sense_actions, move_actions, seconds_left):
                return random.choice(sense_actions)

            def choose_move(self, move_actions, seconds_left):
                return random.choice(move_actions)

    :func:`play_local` runs it in this process, ``gm_client.run`` on a server, ``gm_env.run`` in thousands of games at
    once. Each turn is :meth:`handle_opponent_move_result`, :meth:`choose_sense`, :meth:`handle_sense_result`,
    :meth:`choose_move`, :meth:`handle_move_result`. Squares, moves and pieces are python-chess's. All calls of a game
    come one after the other. What a player raises ends the game for its caller.

    A player that holds a program or a file may have a method ``close``, which is for whoever has made the player: the
    three runners, which are given players, do not call it.
    """

    def handle_game_start(self, color: Color, board: Board, opponent_name: str, /) -> None:
        """Prepare for a game, before any clock runs.

        :param color: the player's colour.
        :param board: the position that the game begins with, which both players know.
        """
        return

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: Square | None, /) -> None:
        """Begin a turn.

        :param captured_my_piece: whether the opponent's turn captured; False before the first turn.
        :param capture_square: where it did.
        """
        return

    @abstractmethod
    def choose_sense(
        self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float, /
    ) -> Square | None:
        """Return the square to sense around; None to sense nothing.

        :param sense_actions: the squares allowed: all of them.
        :param move_actions: the moves that may be requested after it.
        :param seconds_left: the seconds on the player's clock; infinite without one.
        """

    def handle_sense_result(self, sense_result: list[tuple[Square, Piece | None]], /) -> None:
        """Take note of the squares sensed, with the piece on each; empty where nothing was sensed."""
        return

    @abstractmethod
    def choose_move(self, move_actions: list[Move], seconds_left: float, /) -> Move | None:
        """Return the move to request; None to pass.

        :param move_actions: the moves allowed. A promotion without a piece is to a queen.
        :param seconds_left: as in :meth:`choose_sense`.
        """

    def handle_move_result(
        self,
        requested_move: Move | None,
        taken_move: Move | None,
        captured_opponent_piece: bool,
        capture_square: Square | None,
        /,
    ) -> None:
        """Take note of the move's result; the game may be over by it.

        :param requested_move: the move that :meth:`choose_move` returned.
        :param taken_move: the move that was made; None if none was.
        """
        return

    def handle_game_end(
        self, winner_color: Color | None, win_reason: WinReason | None, game_history: History, /
    ) -> None:
        """Take note of the end.

        :param winner_color: None for a draw.
        :param win_reason: why the game ended, also for a draw; None if it was not played to its end.
        :param game_history: the whole game. A subclass of ``reconchess.Player`` gets reconchess's ``WinReason`` and
            ``GameHistory`` in place of ours.
        """
        return


def play_local(
    white: Player,
    black: Player,
    *,
    fen: str = chess.STARTING_FEN,
    seconds: float | None = 900.0,
    increment: float = 5.0,
    reversible_moves: int | None = 100,
    max_turns: int | None = None,
    now: Callable[[], float] = time.monotonic,
) -> History:
    """Play a game between two players in this process, and return its record.

    The players are called as by ``reconchess.play_local_game``, with the same values in the same order, and the rules,
    limits and clocks are those of its ``LocalGame``: a player's time runs through its turn, :meth:`Player.\
handle_move_result` included; the increment is added after it; a player without time left then loses.

    :param fen: the start position, as in :class:`ReconGame`, which also has the limits.
    :param seconds: each player's time; None for no limit.
    :param increment: the seconds added after each turn.
    :param now: a clock, in seconds.
    :raises TypeError: a player is a class.
    :raises ValueError: the FEN is not a possible start position, or a player's action is not allowed. What a player
        raises is passed on, and neither player learns of an end.
    """
    check_players(white, black)
    game = ReconGame(fen, reversible_moves=reversible_moves, max_turns=max_turns)
    players = (black, white)
    names = name_of(white), name_of(black)
    left = [math.inf if seconds is None else seconds] * 2
    white.handle_game_start(chess.WHITE, Board(fen), names[1])
    black.handle_game_start(chess.BLACK, Board(fen), names[0])
    began = now()
    while not game.is_over():
        color = game.turn
        play_turn(game, players[color], lambda color=color, began=began: left[color] + began - now())  # type: ignore[misc]
        ended = now()
        left[color] += began - ended + increment
        began = ended
        if left[color] <= 0:
            game._history.winner, game._history.win_reason = not color, WinReason.TIMEOUT
    history = game.history()
    for player in (white, black):
        tell_end(player, history, *names)
    return history


class PlayedTurn(Protocol):
    """The game of one turn, for :func:`play_turn`: :class:`ReconGame` has these methods."""

    @property
    def opponent_capture(self) -> Square | None: ...

    def sense_actions(self) -> list[Square]: ...

    def move_actions(self) -> list[Move]: ...

    def sense(self, square: Square | None) -> list[tuple[Square, Piece | None]]: ...

    def move(self, requested: Move | None) -> tuple[Move | None, Move | None, Square | None]: ...


def play_turn(game: PlayedTurn, player: Player, seconds_left: Callable[[], float]) -> None:
    """Let a player play its turn, as ``reconchess.play_turn`` does.

    :param seconds_left: returns the seconds on its clock.
    """
    squares, moves = game.sense_actions(), game.move_actions()
    lost = game.opponent_capture
    player.handle_opponent_move_result(lost is not None, lost)
    player.handle_sense_result(game.sense(player.choose_sense(squares, moves, seconds_left())))
    requested, taken, capture = game.move(player.choose_move(moves, seconds_left()))
    player.handle_move_result(requested, taken, capture is not None, capture)


def check_players(*players: object) -> None:
    """Check that players are made already.

    :raises TypeError: one is a class.
    """
    for player in players:
        if isinstance(player, type):
            raise TypeError(f"player: {player.__name__} is a class; pass {player.__name__}()")


def checked_sense(square: Square | None) -> Square | None:
    """Return what :meth:`Player.choose_sense` has returned, as an ``int``.

    :raises ValueError: it is neither a square nor None.
    """
    if square is not None and square not in chess.SQUARES:
        raise not_a_square(square)
    return None if square is None else int(square)


def checked_move(move: Move | None, allowed: list[Move]) -> Move | None:
    """Return what :meth:`Player.choose_move` has returned.

    :raises ValueError: it is neither an allowed move, a promotion without a piece being to a queen, nor None.
    """
    if move is None or move in allowed:
        return move
    if isinstance(move, Move) and Move(move.from_square, move.to_square, move.promotion or chess.QUEEN) in allowed:
        return move
    raise not_allowed(move)


def name_of(player: Player) -> str:
    """Return a player's name, which is that of its class, as in reconchess."""
    return type(player).__name__


def tell_end(player: Player, history: History, white_name: str | None = None, black_name: str | None = None) -> None:
    """Tell a player how a game ended, in reconchess's types if it is a subclass of reconchess's ``Player``."""
    winner, reason = history.winner, history.win_reason
    reconchess: Any = sys.modules.get("reconchess")
    if reconchess is None or not isinstance(player, reconchess.Player):
        player.handle_game_end(winner, reason, history)
        return
    saved = _saved_by(reconchess.GameHistory, reconchess.GameHistoryDecoder, history, white_name, black_name)
    player.handle_game_end(winner, reason and reconchess.WinReason[reason.name], saved)


def _saved_by(kind: Any, decoder: Any, history: History, *names: str | None) -> Any:
    """Return a ``GameHistory``, which is filled when something of it is first asked for: most players ask for nothing,
    and to fill it takes several times as long as to play the game.
    """

    class Unfilled(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            """Set none of its attributes."""

        def __getattr__(self, name: str) -> Any:
            self.__dict__.update(vars(json.loads(history.to_json(*names), cls=decoder)))
            self.__class__ = kind
            return getattr(self, name)

    Unfilled.__name__ = kind.__name__
    return Unfilled()
