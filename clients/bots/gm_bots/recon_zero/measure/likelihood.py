"""How likely a player's weights make the true position, in games that were played: by turn, against equal weights.

A player's turns are followed with its own observations alone. The likelihood of a way to weight positions is
the mean logarithm of the true position's weight, in bits: 0 for a player who knows it, and -10 for one of a thousand
equal positions. A better way to weight them has a higher one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from typing import NamedTuple

import chess
import numpy as np
from chess import Board, Color
from numpy.typing import NDArray

from gm_env.actions import action_of
from gm_env.kernels.layout import PLANES
from gm_env.positions import written
from gm_recon import History, ReconBoard

from ..lockstep.judging import Judge
from ..lockstep.likelihood import plant_edges
from ..lockstep.opponent_model import Choice, OpponentModel
from ..lockstep.requests import FEATURES, describe_all
from ..lockstep.trees import make
from ..lockstep.weighted import LEAST, MOST_REQUESTS, WeightedPositions

#: The most positions of a player that is followed.
_CAP = 20_000
#: Before a sense and after it.
Bits = NDArray[np.float64]


@dataclass(frozen=True)
class Moment:
    """A player's turn: how much the true position weighed, in bits, before the sense and after it.

    :ivar equal: if all positions weigh the same.
    :ivar moves: by the opponent's moves so far.
    """

    equal: tuple[float, float]
    moves: tuple[float, float]


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


def moments(history: History, color: Color, judge: Judge, model: OpponentModel) -> Iterator[Moment]:
    """Follow a player through a game; yield its turns but the first, until it has too many possible positions.

    A player that senses badly soon has millions, of which it could keep only some.

    :param judge: gives the probabilities of the opponent's requests.
    """
    known = WeightedPositions(color, judge, model, fen=history.start_fen, cap=_CAP, rng=random.Random(0))
    lost: chess.Square | None = None
    for ply, replayed in enumerate(history.replay()):
        turn = replayed.turn
        if replayed.color != color:
            lost = turn.capture_square
            continue
        truth, before = Board(replayed.fen_before), None
        if ply:
            known.opponent_moved(lost)
            before = _weigh(known, truth)
        if not known.positions.complete:
            return
        known.saw(replayed.sense_result)
        if before is not None:
            after = _weigh(known, truth)
            yield Moment((before[0], after[0]), (before[1], after[1]))
        if ply + 1 < len(history.turns):
            known.player_moved(turn.requested, turn.taken, turn.capture_square)


def _weigh(known: WeightedPositions, truth: Board) -> tuple[float, float]:
    """Return the truth's likelihood, if all positions weigh the same and by the moves so far."""
    index = known.index_of(truth)
    if index is None:  # it is among those that the cap has left out until the sense
        return log2(LEAST), log2(LEAST)
    return -log2(len(known.weights)), log2(known.weights[index])


class Likelihood(NamedTuple):
    """The mean likelihood of the true position in some turns, in bits, before the sense and after it.

    :ivar turns: how many turns.
    :ivar errors: of the gain of ``moves`` over ``equal``: half of the interval that has the true one in 95 of 100
        cases. Infinite where all turns are of one game.
    """

    turns: int
    equal: tuple[float, float]
    moves: tuple[float, float]
    errors: tuple[float, float]


def mean_of(games: Sequence[Sequence[Moment]]) -> Likelihood:
    """Return the mean of the turns of some games, at least one turn."""
    found = [moment for game in games for moment in game]
    equal, moves = (np.mean([vars(moment)[name] for moment in found], axis=0) for name in ("equal", "moves"))
    return Likelihood(len(found), _pair(equal), _pair(moves), _pair(_error(games, moves - equal)))


def _error(games: Sequence[Sequence[Moment]], gain: Bits) -> Bits:
    """Return the error of the mean gain of all turns. The turns of a game are alike, so it is that of games."""
    played = [game for game in games if game]
    if len(played) < 2:
        return np.full(2, np.inf)
    off = [sum((np.subtract(each.moves, each.equal) - gain for each in game), np.zeros(2)) for game in played]
    variance = np.square(off).sum(axis=0) * len(played) / (len(played) - 1)
    return np.asarray(1.96 * np.sqrt(variance) / sum(map(len, played)))


def _pair(bits: Bits) -> tuple[float, float]:
    return float(bits[0]), float(bits[1])
