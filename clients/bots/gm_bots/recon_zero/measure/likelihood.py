"""How likely a player's weights make the true position, in games that were played: by turn, against equal weights.

A player's turns are followed with what it was told, and nothing else. The likelihood of a way to weight positions is
the mean logarithm of the true position's weight, in bits: 0 for a player who knows it, and -10 for one of a thousand
equal positions. A better way to weight them has a higher one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2
from pathlib import Path

import chess
import numpy as np
from chess import Board, Color

from gm_env.kernels.layout import NUMBERS, STATE
from gm_env.positions import written
from gm_recon import History, ReconBoard
from gm_recon.pgn_reading import read_pgn
from gm_recon.reading import SavedGame

from ..knowledge import CAP
from ..lockstep.candidates import lay_out, weigh
from ..lockstep.judging import Judge
from ..lockstep.weighted import LEAST, OpponentModel, WeightedPositions

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
            yield Moment(*zip(before, after, strict=True))
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


def models(model: OpponentModel, heats: Sequence[float], doubts: Sequence[float]) -> list[OpponentModel]:
    """Return a model with each combination of heats and doubts."""
    return [replace(model, heat=heat, doubt=doubt) for heat in heats for doubt in doubts]
