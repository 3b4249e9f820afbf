"""Mates by brute force on python-chess's boards: every move, every answer, and none of the engine's code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import chess


def can_mate(board: chess.Board, moves: int) -> bool:
    """Return whether the side to move mates in at most ``moves`` moves, whatever the answers."""
    candidates = list(board.legal_moves)
    if moves == 1:  # only a move that gives check mates at once
        candidates = [move for move in candidates if board.gives_check(move)]
    return any(_mates(board, move, moves) for move in candidates)


def _mates(board: chess.Board, move: chess.Move, moves: int) -> bool:
    with _made(board, move):
        return board.is_checkmate() if moves == 1 else is_mated(board, moves - 1)


def is_mated(board: chess.Board, moves: int) -> bool:
    """Return whether the side to move is mated, or is mated in so many moves at most, whatever it does."""
    answers = list(board.legal_moves)
    if not answers:
        return board.is_check()
    return all(_falls(board, answer, moves) for answer in answers)


def _falls(board: chess.Board, answer: chess.Move, moves: int) -> bool:
    with _made(board, answer):
        return can_mate(board, moves)


def is_mate_in(board: chess.Board, moves: int) -> bool:
    """Return whether it is mate in so many moves and no fewer; negative where the side to move is mated."""
    if moves > 0:
        return can_mate(board, moves) and (moves == 1 or not can_mate(board, moves - 1))
    return is_mated(board, -moves) and not (board.is_checkmate() if moves == -1 else is_mated(board, -moves - 1))


@contextmanager
def _made(board: chess.Board, move: chess.Move) -> Iterator[None]:
    board.push(move)
    try:
        yield
    finally:
        board.pop()
