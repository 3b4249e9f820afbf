"""How likely a player's weights make the true position, in games that were played: by turn, against equal weights.

A player's turns are followed with what it was told, and nothing else. The likelihood of a way to weight positions is
the mean logarithm of the true position's weight, in bits: 0 for a player who knows it, and -10 for one of a thousand
equal positions. A better way to weight them has a higher one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

import chess
import numpy as np
from chess import Board, Color

from gm_env.actions import action_of
from gm_env.kernels.layout import NUMBERS, PLANES, STATE
from gm_env.positions import written
from gm_recon import History, ReconBoard
from gm_recon.pgn_reading import read_pgn
from gm_recon.reading import SavedGame

from ..lockstep.candidates import lay_out, weigh
from ..lockstep.judging import Judge
from ..lockstep.likelihood import plant_edges
from ..lockstep.opponent_model import Choice, OpponentModel
from ..lockstep.requests import FEATURES, describe_all
from ..lockstep.trees import make
from ..lockstep.weighted import CAP, LEAST, MOST_REQUESTS, WeightedPositions

_GAME = re.compile(r"^(?=\[Event )", re.M)


@dataclass(frozen=True)
class Moment:
    """A player's turn: how much the true position weighed, before the sense and after it, in bits.

    :ivar count: the positions that were possible before and after.
    :ivar placed: the likelihoods if positions are weighted by the squares of the opponent's pieces alone.
    :ivar kept: the likelihoods by the opponent's moves so far.
    """

    count: tuple[int, int]
    placed: tuple[float, float]
    kept: tuple[float, float]

    def equal(self, after: int) -> float:
        """Return the likelihood if all positions weigh the same, before the sense (0) or after it (1)."""
        return -log2(self.count[after])


def games_in(path: Path) -> list[SavedGame]:
    """Return the games of a PGN file of gmd's.

    :raises BadHistory: one cannot be read.
    """
    return [read_pgn(text) for text in _GAME.split(path.read_text()) if text.strip()]


def choices(history: History, color: Color, judge: Judge) -> Iterator[Choice]:
    """Yield the requests that a player of a game made, with those that it did not make."""
    trees, planes = make(0, 0, 1, MOST_REQUESTS, 0), np.empty((1, PLANES), np.uint64)
    for replayed in history.replay():
        if replayed.color != color:
            continue
        state, numbers = written(ReconBoard.of(Board(replayed.fen_before)))
        trees.states[0], trees.numbers[0], trees.used[:] = state, numbers, (1, 0)
        plant_edges(trees, 0, planes)
        judge(trees, np.zeros(1, np.int64))
        table = np.empty((int(trees.edges[0]), len(FEATURES)))
        describe_all(trees, 0, table)
        requests = trees.action[: len(table)].tolist()
        yield Choice(table, requests.index(action_of(replayed.turn.requested, color)))


def moments(history: History, color: Color, judge: Judge, model: OpponentModel, plausible: float) -> Iterator[Moment]:
    """Follow a player through a game; yield its turns but the first, as long as its positions are known to be all.

    :param judge: gives the probabilities of the opponent's requests.
    :param plausible: the weight of a pawn's value by which the opponent's pieces stand better.
    """
    known = WeightedPositions(color, judge, model, fen=history.start_fen, cap=CAP, rng=random.Random(0))
    lost: chess.Square | None = None
    for ply, replayed in enumerate(history.replay()):
        turn = replayed.turn
        if replayed.color != color:
            lost = turn.capture_square
            continue
        truth, before = Board(replayed.fen_before), None
        if ply:
            known.opponent_moved(lost)
            before = _weigh(known, truth, plausible)
        known.saw(replayed.sense_result)
        if before is not None and known.positions.complete:
            after = _weigh(known, truth, plausible)
            yield Moment((before[0], after[0]), (before[1], after[1]), (before[2], after[2]))
        if ply + 1 < len(history.turns):
            known.player_moved(turn.requested, turn.taken, turn.capture_square)


def _weigh(known: WeightedPositions, truth: Board, plausible: float) -> tuple[int, float, float]:
    """Return the number of positions, and the truth's likelihood by the pieces' squares and by the moves so far."""
    rows = known.rows
    states, numbers = np.empty((len(rows), STATE), np.uint64), np.empty((len(rows), NUMBERS), np.int32)
    lay_out(rows, *written(ReconBoard.of(truth)), states, numbers)
    weights, attacked = np.empty(len(rows)), np.empty(len(rows), np.bool_)
    weigh(states, 1.0, plausible, weights, attacked)
    index = known.index_of(truth)
    if index is None:  # it is among those that the cap has left out until the sense
        return len(rows), log2(LEAST), log2(LEAST)
    return len(rows), log2(weights[index] / weights.sum()), log2(known.weights[index])


def mean_bits(found: Sequence[Moment], after: int) -> tuple[float, float, float]:
    """Return the means of the three likelihoods: equal weights, the pieces' squares, and the moves so far."""
    rows = [(each.equal(after), each.placed[after], each.kept[after]) for each in found]
    equal, placed, kept = np.mean(rows, axis=0).tolist()
    return equal, placed, kept
