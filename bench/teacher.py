"""What Stockfish teaches recon-zero at each depth, for what time, and what the network that ships has learnt of it.

The positions are of games that Stockfish plays at depth 1, with some moves at random as blind chess has them. Each is
scored by a search of one line that is far deeper; the better a value agrees with that, the better a lesson it is. Only
positions that are not decided count. Times are those of this machine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING

import chess
import numpy as np

from bench.progress import steps
from gm_arena.stockfish import stockfish
from gm_bots.expectation.engine import Stockfish
from gm_bots.recon_zero.teacher import SCALE

if TYPE_CHECKING:
    from gm_bots.recon_zero.network import Network

#: Positions, and the depth of the search that is taken for the truth.
POSITIONS, TRUTH = 600, 12
#: Plies of a game, the share of its moves that are any pseudo-legal one, and the temperature of others in centipawns.
PLIES, AT_RANDOM, TEMPERATURE = 80, 0.15, 60.0
#: Positions with greater values are decided: 0.4 is some six pawns.
DECIDED = 0.4
#: Depths of searches that score every move, as the teacher does, and of those that score the best.
EVERY, BEST = (1, 2, 4, 6), (1, 4, 8)


def measure() -> None:
    """Print the table, or what is missing."""
    path = stockfish()
    if path is None or find_spec("torch") is None:
        print("teacher: needs Stockfish and PyTorch")
        return
    from gm_bots.recon_zero.checkpoint import load_network
    from gm_bots.recon_zero.shipped import FILE

    engine = Stockfish(path)
    try:
        boards = positions(engine, random.Random("teacher"), POSITIONS)
        truth = np.array([_of_best_move(engine, TRUTH, board) for board in steps(boards, "teacher")])
        counts = np.abs(truth) < DECIDED
        print(f"values of {counts.sum()} positions beside Stockfish's at depth {TRUTH}: correlation, ms a position")
        for name, value in _kinds(engine, load_network(FILE)):
            begun = perf_counter()
            found = np.array([value(board) for board in boards])
            taken = (perf_counter() - begun) / len(boards) * 1e3
            print(f"  {name:<32}{np.corrcoef(found[counts], truth[counts])[0, 1]:8.3f}{taken:9.2f}")
    finally:
        engine.close()


def positions(engine: Stockfish, rng: random.Random, count: int) -> Sequence[chess.Board]:
    """Return so many positions of such games."""
    found: list[chess.Board] = []
    while len(found) < count:
        found += _game(engine, rng)
    return found[:count]


def _game(engine: Stockfish, rng: random.Random) -> Iterator[chess.Board]:
    """Yield the positions of a game that chess has, after its first moves."""
    board = chess.Board()
    while board.ply() < PLIES and None not in map(board.king, chess.COLORS) and not board.was_into_check():
        scores = engine.scores(board.fen(), 1)
        if not scores:
            return
        if board.ply() > 3:
            yield board.copy(stack=False)
        if rng.random() < AT_RANDOM:
            board.push(rng.choice([*board.pseudo_legal_moves]))
        else:
            best = max(scores.values())
            weights = [math.exp((score - best) / TEMPERATURE) for score in scores.values()]
            board.push_uci(rng.choices([*scores], weights)[0])


def _kinds(engine: Stockfish, network: Network) -> Iterator[tuple[str, Callable[[chess.Board], float]]]:
    for depth in EVERY:
        yield f"every move, depth {depth}", partial(_of_moves, engine, depth)
    for depth in BEST:
        yield f"the best move, depth {depth}", partial(_of_best_move, engine, depth)
    yield "the pieces' values alone", partial(_of_network, network, pieces_alone=True)
    yield "the network that ships", partial(_of_network, network)


def _of_moves(engine: Stockfish, depth: int, board: chess.Board) -> float:
    return _value(max(engine.scores(board.fen(), depth).values()))


def _of_best_move(engine: Stockfish, depth: int, board: chess.Board) -> float:
    return _value(engine.score(board.fen(), depth))


def _of_network(network: Network, board: chess.Board, *, pieces_alone: bool = False) -> float:
    import torch
    from torch.nn import functional

    from gm_bots.recon_zero.belief import certain
    from gm_bots.recon_zero.encoder import PLANES, encode

    planes = network.shown(encode(board, board.turn, certain(board, board.turn))[None])
    with torch.inference_mode():
        if pieces_alone:
            return float(torch.tanh(functional.linear(planes[:, :PLANES].flatten(1), network.worth))[0, 0])
        return float(network(planes)[1][0])


def _value(score: int) -> float:
    return math.tanh(score / SCALE)
