"""A search for the positions of ``short.txt``: ``python -m tests.bots.find_short > tests/bots/short.txt``.

Plain minimax on python-chess's boards takes seconds for three plies of these, and minutes for most others. Half of them
are endings; the other half are any positions of random games. All have few enough lines of three plies.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess

SEED = 8

#: The number of positions of each half.
EACH = 100

#: The most lines of three plies: in endings, and elsewhere, where captures at their ends go on for longer.
ENDING_LINES, OTHER_LINES = 1_500, 4_000

#: The most pieces of an ending.
ENDING_PIECES = 10


def _boards(rng: random.Random, most_plies: int, captures: float) -> Iterator[chess.Board]:
    """Yield positions from random games, one from each; this share of the possible captures is made on purpose."""
    while True:
        board = chess.Board()
        for _ in range(rng.randrange(most_plies)):
            moves = list(board.legal_moves)
            if not moves:
                break
            taking = [move for move in moves if board.is_capture(move)]
            board.push(rng.choice(taking if taking and rng.random() < captures else moves))
        if not board.is_game_over() and not board.is_insufficient_material():
            yield board.copy(stack=False)


def _has_at_most(board: chess.Board, lines: int, plies: int = 3) -> bool:
    return _lines(board, plies, lines) <= lines


def _lines(board: chess.Board, plies: int, enough: int) -> int:
    """Count lines of so many plies, and one more for each check in them; stop when there are more than enough."""
    plies += board.is_check()
    if plies == 0:
        return 1
    count = 0
    for move in board.legal_moves:
        board.push(move)
        count += _lines(board, plies - 1, enough - count)
        board.pop()
        if count > enough:
            break
    return count


def find() -> Iterator[str]:
    rng, found = random.Random(SEED), set[str]()
    endings = (board for board in _boards(rng, 260, 0.5) if chess.popcount(board.occupied) <= ENDING_PIECES)
    others = (board for board in _boards(rng, 80, 0.3) if chess.popcount(board.occupied) > ENDING_PIECES)
    for boards, lines, until in ((endings, ENDING_LINES, EACH), (others, OTHER_LINES, 2 * EACH)):
        while len(found) < until:
            board = next(boards)
            if board.fen() not in found and _has_at_most(board, lines):
                found.add(board.fen())
                yield board.fen()


def main() -> None:
    print(f"# Positions out of random games with few lines of three plies: by find_short.py, seed {SEED}.")
    for fen in find():
        print(fen)


if __name__ == "__main__":
    main()
