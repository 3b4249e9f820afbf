"""A search for the positions of ``mates.txt``: ``python -m tests.bots.find_mates > tests/bots/mates.txt``.

Two weak players play by a seed: one is Stockfish with few nodes, and the other moves are random. Where a stronger
Stockfish then sees a mate of a wanted length, brute force decides whether it is one, and that no shorter one exists.
The engine under test has no part in it. The search takes half an hour. For each length the positions with few moves
come first.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Iterator

import chess
import chess.engine

from tests.bots.plain_mates import is_mate_in

SEED = 8

#: How many positions are wanted, by the moves to the mate; negative where the side to move is mated.
WANTED = {1: 60, 2: 60, 3: 40, -1: 20, -2: 20, -3: 10}

#: The most legal moves of a position whose mate takes three moves: with more, brute force takes minutes.
MOST_MOVES = {3: 32, -3: 6}

#: The nodes for a player's move, and those for the search for mates.
PLAYED, LOOKED = 300, 20_000


def _game(number: int, engine: chess.engine.SimpleEngine) -> Iterator[chess.Board]:
    """Yield the positions of a game."""
    rng, board = random.Random(f"{SEED} {number}"), chess.Board()
    while not board.is_game_over() and board.ply() < 160:
        yield board
        move = rng.choice(list(board.legal_moves))
        if board.ply() >= 6 and rng.random() < 0.6:
            move = engine.play(board, chess.engine.Limit(nodes=PLAYED), game=number).move or move
        board.push(move)


def _mate_seen(board: chess.Board, engine: chess.engine.SimpleEngine) -> int | None:
    """Return in how many moves the side to move mates according to Stockfish; negative if it is mated."""
    info = engine.analyse(board, chess.engine.Limit(nodes=LOOKED), game=object())
    return info["score"].relative.mate()


def find() -> Iterator[tuple[int, str]]:
    """Yield moves to the mate and FEN; from each game, one of each length."""
    left, number = dict(WANTED), 0
    with chess.engine.SimpleEngine.popen_uci(shutil.which("stockfish") or "/usr/games/stockfish") as engine:
        while any(left.values()):
            found = set[int]()
            for board in _game(number, engine):
                moves = _mate_seen(board, engine)
                if moves is None or moves in found or not left.get(moves) or board.halfmove_clock > 80:
                    continue
                plain = board.copy(stack=False)
                if plain.legal_moves.count() <= MOST_MOVES.get(moves, 218) and is_mate_in(plain, moves):
                    found.add(moves)
                    left[moves] -= 1
                    yield moves, plain.fen()
            number += 1
            print(f"{number} games, still wanted: {left}", file=sys.stderr)


def main() -> None:
    found = sorted(find(), key=lambda mate: (mate[0], chess.Board(mate[1]).legal_moves.count(), mate[1]))
    print(f"# In how many moves the side to move mates, or, negative, is mated: by find_mates.py, seed {SEED}.")
    for moves, fen in found:
        print(moves, fen)


if __name__ == "__main__":
    main()
