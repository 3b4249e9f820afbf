"""The observations of a player in a recorded game of blind chess, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import chess
from chess import Color, Move, Square

from gm_recon import Cell, History, ReconBoard, WinReason

from ..replay.recorded import Recorded

#: How far a turn went: to its end; to its sense, without a move; or only to its beginning.
Extent = Literal["whole", "sensed", "begun"]


@dataclass
class Observed:
    """One of the player's turns.

    :ivar number: the number of the turn among the player's, from 1.
    :ivar captured_on: the square on which the opponent has just captured.
    :ivar seconds: the player's clock before its sense and before its move; None where that is not recorded.
    :ivar sense, requested: the player's actions.
    :ivar sense_result, taken, capture_square: the results that it was shown.
    """

    number: int
    extent: Extent
    captured_on: Square | None
    move_actions: list[Move]
    seconds: tuple[float, float] | None
    sense: Square | None = None
    sense_result: tuple[Cell, ...] = ()
    requested: Move | None = None
    taken: Move | None = None
    capture_square: Square | None = None


def start_board(history: History) -> chess.Board:
    """Return the start position, which both players know."""
    return ReconBoard(history.start_fen).as_chess()


def turns_of(game: Recorded, color: Color) -> Iterator[Observed]:
    """Yield a player's turns, including the last one, however far it went.

    :param game: a game of blind chess.
    """
    history = game.history
    assert history is not None
    board, captured_on, number = ReconBoard(history.start_fen), None, 0
    for ply, turn in enumerate(history.turns):
        if board.turn == color:
            number += 1
            seen = () if turn.sense is None else tuple(board.window(turn.sense))
            yield Observed(
                number,
                "whole",
                captured_on,
                board.move_actions(),
                _seconds(game, ply),
                turn.sense,
                seen,
                turn.requested,
                turn.taken,
                turn.capture_square,
            )
        board.push(turn.taken, turn.capture_square)
        captured_on = turn.capture_square
    if board.turn == color and (extent := _last_extent(history, color)) is not None:
        seconds = _seconds(game, len(history.turns))
        last = Observed(number + 1, extent, captured_on, board.move_actions(), seconds)
        for last.sense in history.unfinished:
            last.sense_result = () if last.sense is None else tuple(board.window(last.sense))
        yield last


def _last_extent(history: History, color: Color) -> Extent | None:
    """Return how far the player came in the game's last turn; None if that turn was not the player's.

    A player whose time runs out in its own turn, or who resigns then, was asked to act, and may have failed to.
    """
    if history.unfinished:
        return "sensed"
    gave_out = history.win_reason in {WinReason.TIMEOUT, WinReason.RESIGN} and history.winner == (not color)
    return "begun" if gave_out else None


def _seconds(game: Recorded, ply: int) -> tuple[float, float] | None:
    return None if game.clocks is None else (game.clocks[ply].at_sense, game.clocks[ply].at_move)
