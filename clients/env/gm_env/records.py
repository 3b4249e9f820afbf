"""Games of a batch as histories, and back."""

from __future__ import annotations

from typing import Any, Protocol

import chess
import numpy as np
from chess import Color, Move
from numpy.typing import NDArray

from gm_recon import History, ReconBoard, Turn, WinReason

from .actions import action_of, move_of, seen_by, sense_of, square_of
from .kernels.layout import (
    CAPTURE_BIT,
    MOVE_BITS,
    NONE,
    PHASE,
    PLY,
    REASON,
    REQUESTED_BIT,
    SENSE_BIT,
    SENSED,
    SQUARE_BITS,
    TAKEN_BIT,
    TO_MOVE,
    WINNER,
)


class OneGame(Protocol):
    """A batch of one game (:class:`gm_env.BatchedRbc`)."""

    colors: NDArray[np.int32]
    reasons: NDArray[np.int32]
    winners: NDArray[np.int32]
    results: NDArray[np.int32]

    def sense(self, actions: NDArray[Any]) -> NDArray[np.uint8]:
        """Sense."""

    def move(self, actions: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Move."""


def history_of(start: str, numbers: NDArray[np.int32], records: NDArray[np.uint64]) -> History:
    """Return the history of a game.

    :param start: the FEN of the start position.
    :param numbers: the game's row.
    :param records: its records.
    """
    board = ReconBoard(start)
    history = History(start)
    for first_word in records[: numbers[PLY], 0].tolist():
        turn = _turn(board, first_word)
        history.turns.append(turn)
        board.push(turn.taken, turn.capture_square)
    if numbers[PHASE] == TO_MOVE:
        history.unfinished.append(square_of(int(numbers[SENSED]), board.turn))
    if numbers[REASON]:
        history.win_reason = WinReason(int(numbers[REASON]))
        history.winner = None if numbers[WINNER] == NONE else bool(numbers[WINNER])
    return history


def _turn(board: ReconBoard, word: int) -> Turn:
    """Return the turn of a record's first word, made in this position."""
    color = board.turn
    capture = word >> CAPTURE_BIT & int(SQUARE_BITS)
    return Turn(
        square_of(word >> SENSE_BIT & int(SQUARE_BITS), color),
        _move(board, word >> REQUESTED_BIT & int(MOVE_BITS)),
        _move(board, word >> TAKEN_BIT & int(MOVE_BITS)),
        None if capture == 64 else seen_by(capture, color),
    )


def _move(board: ReconBoard, action: int) -> Move | None:
    move = move_of(action, board.turn, chess.BB_EMPTY)
    return None if move is None else board.promoting(move)


def replay(one: OneGame, history: History) -> None:
    """Play the actions of a history in a new batch of one game.

    :raises ValueError: they are not possible, or have other results there.
    """
    for number, turn in enumerate(history.turns, 1):
        color = bool(one.colors[0])
        if one.reasons[0]:
            raise ValueError(
                f"history: the game is over before turn {number}, by {WinReason(int(one.reasons[0])).name}"
            )
        try:
            one.sense(np.array([sense_of(turn.sense, color)]))
            one.move(np.array([action_of(turn.requested, color)]))
        except ValueError as error:
            raise ValueError(f"history: turn {number} is not possible: {error}") from None
        _, taken, capture = one.results[0].tolist()
        wanted = (action_of(turn.taken, color), _captured(turn, color))
        if (taken, capture) != wanted:
            raise ValueError(f"history: turn {number} makes move {taken} capturing on {capture} here, and not {wanted}")
    if one.reasons[0]:
        _check_end(history, WinReason(int(one.reasons[0])), None if one.winners[0] == NONE else bool(one.winners[0]))
    for square in history.unfinished:
        one.sense(np.array([sense_of(square, bool(one.colors[0]))]))


def _check_end(history: History, reason: WinReason, winner: Color | None) -> None:
    if history.unfinished or (history.win_reason, history.winner) != (reason, winner):
        raise ValueError(
            f"history: the game ends by {reason.name} after {len(history.turns)} turns, and not as it says"
        )


def _captured(turn: Turn, color: Color) -> int:
    return NONE if turn.capture_square is None else seen_by(turn.capture_square, color)
