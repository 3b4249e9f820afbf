"""Choice of moves for random games, such that rare events happen often enough."""

from __future__ import annotations

import random
from collections.abc import Callable

import chess
from chess import Board, Move

Wish = Callable[[Board, Move], bool]


def _promotes(board: Board, move: Move) -> bool:
    return move.promotion is not None


def _underpromotes(board: Board, move: Move) -> bool:
    return move.promotion not in (None, chess.QUEEN)


def _moves_pawn(board: Board, move: Move) -> bool:
    return board.piece_type_at(move.from_square) == chess.PAWN


def _is_quiet(board: Board, move: Move) -> bool:
    return not board.is_zeroing(move)


def _drops(board: Board, move: Move) -> bool:
    return move.drop is not None


def _takes_back(board: Board, move: Move) -> bool:
    """Return whether the move undoes the player's previous one."""
    if len(board.move_stack) < 2:
        return False
    last = board.move_stack[-2]
    return (move.from_square, move.to_square) == (last.to_square, last.from_square)


#: Rare moves, each with the probability with which it is chosen when possible.
_RARE: list[tuple[float, Wish]] = [
    (0.9, Board.is_en_passant),
    (0.5, Board.is_castling),
    (0.3, _underpromotes),
    (0.5, _promotes),
]

#: By style: the probability of looking for each kind of move, in this order.
STYLES: dict[str, list[tuple[float, Wish]]] = {
    "any": [*_RARE],
    "greedy": [*_RARE, (0.8, Board.is_capture), (0.3, Board.gives_check)],
    "pawns": [*_RARE, (0.6, _moves_pawn)],
    "quiet": [(0.98, _is_quiet)],
    "shuffling": [(0.5, _takes_back), *_RARE],
    "checking": [*_RARE, (0.7, Board.gives_check), (0.3, _drops)],
}


def choose(board: Board, style: str, rng: random.Random) -> Move:
    """Return a legal move; there must be one."""
    moves = list(board.legal_moves)
    for probability, wish in STYLES[style]:
        if rng.random() < probability and (wanted := [move for move in moves if wish(board, move)]):
            return rng.choice(wanted)
    return rng.choice(moves)


def spell(board: Board, move: Move, rng: random.Random) -> str:
    """Return the move as SAN or UCI, with equal probability."""
    return board.san(move) if rng.random() < 0.5 else board.uci(move)
