"""The games that are played: with new positions, and with known ones."""

from __future__ import annotations

import random

import chess

#: Sixteen plies each of ten popular openings.
OPENINGS = [
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O",
    "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be2 e5 Nb3 Be7 O-O O-O",
    "e4 e6 d4 d5 Nc3 Nf6 Bg5 Be7 e5 Nfd7 Bxe7 Qxe7 f4 O-O Nf3 c5",
    "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5 Ng3 Bg6 h4 h6 Nf3 Nd7 h5 Bh7",
    "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O Nf3 Nbd7 Rc1 c6 Bd3 dxc4",
    "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O Be2 e5 O-O Nc6 d5 Ne7",
    "d4 Nf6 c4 e6 Nc3 Bb4 e3 O-O Bd3 d5 Nf3 c5 O-O Nc6 a3 Bxc3",
    "c4 e5 Nc3 Nf6 Nf3 Nc6 g3 d5 cxd5 Nxd5 Bg2 Nb6 O-O Be7 d3 O-O",
    "Nf3 d5 g3 Nf6 Bg2 e6 O-O Be7 d3 O-O Nbd2 c5 e4 Nc6 Re1 b5",
    "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6 O-O O-O Re1 a6 a4 Ba7",
]

#: Longest random game, in plies: about as long as bots play; and longest game at all, shorter than the daemon's limit.
MAX_PLIES, LONGEST = 120, 1_900


def random_game(rng: random.Random, plies: int) -> list[str]:
    """Return a random game in SAN, of so many plies unless it ends before: nearly every position is new."""
    board, game = chess.Board(), list[str]()
    while len(game) < plies and (legal := list(board.legal_moves)):
        game.append(board.san_and_push(rng.choice(legal)))
    return game


def cold_games(moves: int, seed: int) -> list[list[str]]:
    """Return random games with at least so many moves in total."""
    rng = random.Random(seed)
    games: list[list[str]] = []
    while moves > 0:
        games.append(random_game(rng, MAX_PLIES))
        moves -= len(games[-1])
    return games


def warm_games(moves: int) -> list[list[str]]:
    """Return the openings again and again, with about so many moves in total."""
    lines = [line.split() for line in OPENINGS]
    return [lines[number % len(lines)] for number in range(moves // len(lines[0]) + 1)]


def shuffle(plies: int) -> list[str]:
    """Return one game of knights moving out and back: every position is known, only the game grows."""
    return (["Nf3", "Nf6", "Ng1", "Ng8"] * (plies // 4 + 1))[:plies]


def long_games(moves: int, at_once: int) -> list[list[str]]:
    """Return games of known positions for so many clients at once, with about so many moves in total."""
    plies = min(LONGEST, moves // at_once)
    return [shuffle(plies)] * max(at_once, moves // plies)
