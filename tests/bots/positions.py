"""Positions for the tests of the engine."""

from __future__ import annotations

import random
from pathlib import Path

import chess

#: The six usual perft positions, with the number of move sequences of 1, 2, 3 and 4 half-moves.
#: https://www.chessprogramming.org/Perft_Results
PERFT = {
    chess.STARTING_FEN: (20, 400, 8_902, 197_281),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (48, 2_039, 97_862, 4_085_603),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (14, 191, 2_812, 43_238),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (6, 264, 9_467, 422_333),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1_486, 62_379, 2_103_487),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (46, 2_079, 89_890, 3_894_594),
}

MATES, SHORT = (Path(__file__).parent / name for name in ("mates.txt", "short.txt"))


def random_boards(count: int, seed: int, plies: int = 80) -> list[chess.Board]:
    """Return positions from random games, none of them over, without the moves that led to them."""
    rng, boards = random.Random(seed), list[chess.Board]()
    while len(boards) < count:
        board = chess.Board()
        for _ in range(rng.randrange(plies)):
            moves = list(board.legal_moves)
            captures = [move for move in moves if board.is_capture(move)]
            if not moves:
                break
            board.push(rng.choice(captures if captures and rng.random() < 0.3 else moves))
        if not board.is_game_over():
            boards.append(board.copy(stack=False))
    return boards


def mates(moves: int) -> list[str]:
    """Return FENs in which the side to move mates in so many moves, or, where that is negative, is mated."""
    return [fen for number, fen in (line.split(maxsplit=1) for line in _lines(MATES)) if int(number) == moves]


def short() -> list[str]:
    """Return FENs in which plain minimax to three plies takes seconds; every second one has few pieces."""
    lines = _lines(SHORT)
    half = len(lines) // 2
    return [fen for pair in zip(lines[:half], lines[half:], strict=True) for fen in pair]


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
