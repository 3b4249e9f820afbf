"""The positions that may be true, each weighted by the likelihood of all moves of the opponent's that led to it.

The probability of each request is that of a model of opponents (:mod:`.opponent_model`). Their senses say nothing: a
player does not learn them.

A position that can be reached in several ways has the sum of their weights. A set of positions that was too large to be
kept whole is generated again after the sense, and its weights are then computed again from the positions before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import chess
import numpy as np
from chess import Color, Move, Square
from numpy.typing import NDArray

from gm_env import CompiledPositions
from gm_env.actions import seen_by
from gm_env.kernels.layout import CASTLING, COLOR, EN_PASSANT, FULLMOVES, NONE, NUMBERS, PLANES, STATE
from gm_env.kernels.rules import Words
from gm_env.kernels.sets import fill, make_keys
from gm_recon import Cell
from gm_recon.position_sets import Rng
from gm_recon.possible import PossiblePositions

from .judging import Judge
from .likelihood import Column, carry, move_weights, plant_requests, share_evenly
from .opponent_model import OpponentModel
from .requests import weigh_requests
from .trees import Weights, make

#: Positions kept. Between players who sense, some fifty are possible after a sense, and a thousand before it; a hundred
#: thousand take some 3 MB.
CAP = 100_000
#: The least positions that are kept, carry their weights over and are asked about where there is little time.
LEAST_KEPT, LEAST_CARRIED, LEAST_ASKED = 500, 256, 8
#: Positions whose moves are listed at once.
_BATCH = 512
#: Requests that a position has at most: more than any position's moves, and a pass.
MOST_REQUESTS = 256
#: The least weight of a possible position, relative to the largest: products of many small ones never vanish.
LEAST = 1e-9
#: The bits of a row's fourth word: castling to either side of the opponent's, and en passant.
_QUEENSIDE, _KINGSIDE, _EN_PASSANT = 1, 2, 0xFF << 2


class _Before(NamedTuple):
    """What the opponent's move came from: the positions, the player's own pieces, and the square of its capture."""

    rows: Words
    weights: Weights
    state: NDArray[np.uint64]
    numbers: NDArray[np.int32]
    capture: int


class Weighing(NamedTuple):
    """What positions weigh by: the probabilities of the opponent's requests, and what is assumed of opponents."""

    judge: Judge
    model: OpponentModel


def known_positions(
    color: Color, rng: Rng, weighing: Weighing | None, fen: str = chess.STARTING_FEN, cap: int = CAP
) -> EvenPositions:
    """Return a player's possible positions at the start of a game.

    :param weighing: what they weigh by; None if all weigh the same.
    :param cap: as for :class:`gm_recon.possible.PossiblePositions`.
    :raises ValueError: the FEN cannot be read, or is not a start position.
    """
    if weighing is None:
        return EvenPositions(color, fen=fen, cap=cap, rng=rng)
    return WeightedPositions(color, weighing.judge, weighing.model, fen=fen, cap=cap, rng=rng)


class EvenPositions:
    """The possible positions of a player, which all weigh the same. All events must be reported in their order.

    :ivar color: the player's colour.
    :ivar positions: the possible positions.
    """

    def __init__(self, color: Color, *, fen: str = chess.STARTING_FEN, cap: int, rng: Rng) -> None:
        """:param cap: as for :class:`gm_recon.possible.PossiblePositions`.
        :raises ValueError: the FEN cannot be read, or is not a start position.
        """
        self.color = color
        self.positions = PossiblePositions(color, fen, cap=cap, rng=rng, backend=CompiledPositions)

    @property
    def rows(self) -> Words:
        """The positions, uint64[positions, 4]: :mod:`gm_env.kernels.expanding` says what the words are."""
        return self._rows(len(self.positions))

    def own_rows(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """Return the player's own pieces as it sees the board, as a row of a batch has them: :mod:`gm_env`.

        The number of an en passant square is that of the player's pawn that the opponent may capture.
        """
        own, state, numbers = self.positions.own, np.zeros(STATE, np.uint64), np.zeros(NUMBERS, np.int32)
        for piece_type in chess.PIECE_TYPES:
            state[piece_type - 1] = self._seen(int(own.pieces(piece_type, self.color)))
        state[CASTLING] = self._seen(own.castling_rights)
        numbers[COLOR] = self.color
        numbers[EN_PASSANT] = NONE if own.ep_square is None else seen_by(own.ep_square, not self.color)
        numbers[FULLMOVES] = own.fullmove_number
        return state, numbers

    def _seen(self, squares: chess.Bitboard) -> chess.Bitboard:
        return squares if self.color else chess.flip_vertical(squares)

    def likeliest(self, count: int) -> tuple[Words, Weights]:
        """Return so many positions, drawn at random, and their weights; all if there are no more."""
        rows = self._rows(count)
        return rows, np.ones(len(rows))

    def limit(self, cap: int, share: float) -> None:
        """Keep at most so many positions from the next event on.

        :param share: of the work that is done where there is time.
        """
        self.positions.limit(min(cap, max(LEAST_KEPT, int(share * CAP))))

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        self.positions.opponent_moved(capture)

    def saw(self, cells: Sequence[Cell]) -> None:
        """Record the result of the player's sense."""
        self.positions.saw(cells)

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the player's move, after which the game goes on."""
        self.positions.player_moved(requested, taken, capture)

    def _rows(self, count: int) -> Words:
        drawn = self.positions.draw(count)
        assert isinstance(drawn, CompiledPositions)
        return drawn.rows


class WeightedPositions(EvenPositions):
    """The possible positions of a player, each with its probability. All events must be reported in their order.

    :ivar joint: float64[positions, kinds], in the order of :attr:`rows`: the probability of each position together with
        each kind of opponent. They sum to 1.
    """

    def __init__(
        self,
        color: Color,
        judge: Judge,
        model: OpponentModel,
        *,
        fen: str = chess.STARTING_FEN,
        cap: int,
        rng: Rng,
    ) -> None:
        """:param judge: gives the probabilities of requests.
        :param model: of the opponent's requests.
        """
        super().__init__(color, fen=fen, cap=cap, rng=rng)
        self._judge, self._model = judge, model
        self._carried, self._asked = model.carried, model.asked
        kinds = len(model.kinds)
        self.joint: Weights = np.full((1, kinds), 1 / kinds)
        self._before: _Before | None = None
        self._keys = np.empty(4, np.uint64)
        make_keys(np.uint64(0), self._keys)

    @property
    def weights(self) -> Weights:
        """The probability of each position: float64[positions]."""
        weights: Weights = self.joint.sum(axis=1)
        return weights

    def likeliest(self, count: int) -> tuple[Words, Weights]:
        """Return so many positions with the largest probabilities, and these; all if there are no more."""
        rows, weights = self.rows, self.weights
        if len(rows) <= count:
            return rows, weights
        largest = np.argpartition(-weights, count)[:count]
        return rows[largest], weights[largest]

    def limit(self, cap: int, share: float) -> None:
        """Keep at most so many positions from the next event on, and weigh a share of the usual number."""
        super().limit(cap, share)
        self._carried = max(LEAST_CARRIED, int(share * self._model.carried))
        self._asked = max(LEAST_ASKED, int(share * self._model.asked))

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        at = NONE if capture is None else seen_by(capture, not self.color)
        self._before = _Before(self.rows, self.joint, *self.own_rows(), at)
        self.positions.opponent_moved(capture)
        self._carry(self._before)

    def saw(self, cells: Sequence[Cell]) -> None:
        """Record the result of the player's sense."""
        rows, weights, was_whole = self.rows, self.joint, self.positions.complete
        self.positions.saw(cells)
        if was_whole or self._before is None:
            self._move(rows, weights, 0, 0)
        else:
            self._carry(self._before)

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the player's move, after which the game goes on."""
        rows, weights = self.rows, self.joint
        self.positions.player_moved(requested, taken, capture)
        if capture is None:
            self._move(rows, weights, 0, _EN_PASSANT)
            return
        square = seen_by(capture, not self.color)
        corner = {chess.A1: _QUEENSIDE, chess.H1: _KINGSIDE}.get(square, 0)
        self._move(rows, weights, chess.BB_SQUARES[square], _EN_PASSANT | corner)

    # --- Weights ------------------------------------------------------------------------------------------------

    def _move(self, rows: Words, weights: Weights, squares: int, rights: int) -> None:
        """Take the weights over to the positions that are left."""
        left = self.rows
        moved = np.zeros((len(left), weights.shape[1]))
        gone = np.uint64(squares), np.uint64(rights)
        move_weights(rows, weights, *gone, left, self._table(left), self._keys, moved)
        self._set(moved)

    def _carry(self, before: _Before) -> None:
        """Compute the weights of the positions after the opponent's move."""
        left = self.rows
        table, carried = self._table(left), np.zeros((len(left), before.weights.shape[1]))
        trees = make(0, 0, _BATCH, _BATCH * MOST_REQUESTS, 0)
        planes = np.empty((1, PLANES), np.uint64)
        shares = np.empty((len(trees.action), before.weights.shape[1]))
        order = np.argsort(-before.weights.sum(axis=1), kind="stable")[: self._carried]
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            plant_requests(trees, before.rows[some], before.state, before.numbers, planes)
            asked = min(len(some), max(0, self._asked - start))
            if asked:
                self._judge(trees, np.arange(asked))
            share_evenly(trees, asked, len(some))
            weigh_requests(trees, self._model.coefficients, self._model.doubt, shares)
            carry(trees, shares, before.weights[some], before.capture, left, table, self._keys, carried)
        self._set(carried)

    def _set(self, joint: Weights) -> None:
        if len(joint):
            np.maximum(joint, LEAST * joint.max(initial=1e-300), out=joint)
            joint /= joint.sum()
        self.joint = joint

    def _table(self, rows: Words) -> Column:
        table = np.zeros(2 << len(rows).bit_length(), np.uint64)
        fill(rows, len(rows), table, self._keys)
        return table
