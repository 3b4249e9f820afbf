"""Plain minimax on python-chess's boards: the reference that a search must equal. It shares only the evaluation with
the engine.

It has no alpha and no beta. Its horizon is the search's: a side in check gets one more ply, and after the last ply
captures and promotions to a queen are searched until there are none, or neither is made.
"""

from __future__ import annotations

import chess

from gm_bots.minimax.evaluation import evaluate
from gm_bots.minimax.scores import INFINITY, MATE


def minimax(board: chess.Board, depth: int, ply: int = 0) -> int:
    """Return the score of the side to move."""
    moves = list(board.legal_moves)
    if not moves:
        return ply - MATE if board.is_check() else 0
    if ply and _is_drawn(board, ply):
        return 0
    depth += board.is_check()
    if depth == 0:
        return quiesce(board)
    best = -INFINITY
    for move in moves:
        board.push(move)
        best = max(best, -minimax(board, depth - 1, ply + 1))
        board.pop()
    return best


def _is_drawn(board: chess.Board, ply: int) -> bool:
    if board.is_insufficient_material() or board.halfmove_clock >= 100 or board.is_repetition(3):
        return True
    return board.is_repetition(2) and _was_there_since(board, ply)


def _was_there_since(board: chess.Board, ply: int) -> bool:
    """Return whether the position occurred up to so many plies ago."""
    now, before = board._transposition_key(), board.copy(stack=ply)
    for _ in range(ply):
        before.pop()
        if before._transposition_key() == now:
            return True
    return False


def quiesce(board: chess.Board, alpha: int = -INFINITY, beta: int = INFINITY) -> int:
    """Return the score when nothing is left to take; it is exact with these bounds, and without any it would take for
    ever.
    """
    if board.is_insufficient_material():
        return 0
    best = evaluate(board) if board.turn else -evaluate(board)
    if best >= beta:
        return best
    alpha = max(alpha, best)
    for move in sorted(filter(lambda move: _is_noisy(board, move), board.legal_moves), key=lambda m: _gain(board, m)):
        board.push(move)
        best = max(best, -quiesce(board, -beta, -alpha))
        board.pop()
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best


def _is_noisy(board: chess.Board, move: chess.Move) -> bool:
    return move.promotion == chess.QUEEN or (board.is_capture(move) and move.promotion is None)


def _gain(board: chess.Board, move: chess.Move) -> int:
    """Return a key that puts large captures first, which shortens the work and changes nothing."""
    return -(board.piece_type_at(move.to_square) or 0)
