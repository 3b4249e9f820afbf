"""Plain minimax, on python-chess's boards and on the engine's positions: what a search must equal.

It knows no alpha and no beta, and its horizon is the search's: a side in check is given a ply more, and after the last
ply captures and promotions to a queen are looked at until none is left, or neither is made.
"""

from __future__ import annotations

import chess

from gm_bots.minimax.evaluation import evaluate
from gm_bots.minimax.generation import legal_moves
from gm_bots.minimax.ordering import captures_in_order
from gm_bots.minimax.position import Position
from gm_bots.minimax.scores import INFINITY, MATE


def minimax_of(position: Position, depth: int, ply: int = 0, settled: dict[int, int] | None = None) -> int:
    """The score of the side to move, as :func:`minimax` has it, some fifty times as fast.

    :param settled: what the dust settles to, by key: most positions at the horizon are there several times.
    """
    settled = {} if settled is None else settled
    moves, in_check = legal_moves(position), position.in_check()
    if not moves:
        return ply - MATE if in_check else 0
    if ply and (position.dead or position.halfmove_clock >= 100 or position.repeats(ply)):
        return 0
    depth += in_check
    if depth == 0:
        if position.key not in settled:
            settled[position.key] = quiesce_of(position, -INFINITY, INFINITY)
        return settled[position.key]
    best = -INFINITY
    for move in moves:
        position.make(move)
        best = max(best, -minimax_of(position, depth - 1, ply + 1, settled))
        position.unmake()
    return best


def quiesce_of(position: Position, alpha: int, beta: int) -> int:
    """As :func:`quiesce`."""
    if position.dead:
        return 0
    best = position.evaluate()
    for move in captures_in_order(position):  # the order is for speed: without it a few positions take minutes
        alpha = max(alpha, best)
        if alpha >= beta:
            break
        if position.make_legal(move, True):
            best = max(best, -quiesce_of(position, -beta, -alpha))
            position.unmake()
    return best


def minimax(board: chess.Board, depth: int, ply: int = 0) -> int:
    """The score of the side to move."""
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
    """Whether the position was there up to so many plies ago."""
    now, before = board._transposition_key(), board.copy(stack=ply)
    for _ in range(ply):
        before.pop()
        if before._transposition_key() == now:
            return True
    return False


def quiesce(board: chess.Board, alpha: int = -INFINITY, beta: int = INFINITY) -> int:
    """The score when nothing is left to take; with these bounds it is exact, and without any it would take for ever."""
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
    """Little for captures of much, which shortens the work and changes nothing."""
    return -(board.piece_type_at(move.to_square) or 0)
