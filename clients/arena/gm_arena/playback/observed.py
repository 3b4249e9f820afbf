"""What a player was shown in a recorded game of blind chess, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import chess
from chess import Color, Move, Square

from gm_recon import Cell, History, ReconBoard, WinReason

from ..replay.recorded import Recorded

#: How far a turn went: to its end; to its sense, and no move came; or the player had it, and did nothing any more.
Extent = Literal["whole", "sensed", "begun"]


@dataclass
class Observed:
    """A turn of the player's own.

    :ivar number: of the turn among the player's, from 1.
    :ivar captured_on: where the opponent has just taken a piece.
    :ivar seconds: what its clock read as it was to sense, and as it was to move; None where that is not recorded.
    :ivar sense, requested: what it did.
    :ivar sense_result, taken, capture_square: what it was shown for that.
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
    """The start position, of which both players are told."""
    return ReconBoard(history.start_fen).as_chess()


def turns_of(game: Recorded, color: Color) -> Iterator[Observed]:
    """A player's turns, the last one included, however far that went.

    :param game: one of blind chess.
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
    """How far the player came in the turn that the game ended in; None where that was not the player's any more.

    Whose time is up in its own turn, or who gives up then, was asked to do something, and has perhaps failed at it.
    """
    if history.unfinished:
        return "sensed"
    gave_out = history.win_reason in {WinReason.TIMEOUT, WinReason.RESIGN} and history.winner == (not color)
    return "begun" if gave_out else None


def _seconds(game: Recorded, ply: int) -> tuple[float, float] | None:
    return None if game.clocks is None else (game.clocks[ply].at_sense, game.clocks[ply].at_move)
