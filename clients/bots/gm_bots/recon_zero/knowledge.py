"""A player's knowledge in a game: the possible positions, and one guess for a game in which these were too many.

Every possible position is kept (:mod:`.lockstep.weighted`), or a sample where there are too many. If the true one was
dropped, none is left sooner or later; from then on the player knows one guess, as the bot ``minimax`` does.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable

import chess
import numpy as np
from chess import Board, Color, Move, Square
from numpy.typing import NDArray

from gm_bots.minimax.guess import Guess
from gm_env.actions import seen_by
from gm_env.positions import written
from gm_recon import Cell, ReconBoard

from .lockstep.candidates import Examined, examine, pieces_on, value_senses
from .lockstep.trees import Weights
from .lockstep.weighted import CAP, Weighing, known_positions

#: The probabilities of the opponent's pieces, shape (7, 8, 8): a channel for each kind from pawn to king and one for
#: none of these, rank, and file of the true board. Every square sums to 1.
Belief = NDArray[np.float64]

#: Positions examined, the likeliest; and at least, with little time.
LOOKED_AT, LEAST_LOOKED_AT = 1_000, 100


class Knowledge:
    """The knowledge of a player. All events must be reported in the order in which they happen.

    :ivar color: the player's colour.
    """

    def __init__(
        self,
        color: Color,
        fen: str = chess.STARTING_FEN,
        *,
        cap: int = CAP,
        rng: random.Random | None = None,
        weighing: Weighing | None = None,
    ) -> None:
        """:param cap: the most positions that are kept.
        :param weighing: what positions weigh by; None if all weigh the same.
        :raises ValueError: the FEN cannot be read, or is not a start position.
        """
        self.color = color
        self._known = known_positions(color, rng or random.Random(), weighing, fen, cap)
        self._guess = Guess(Board(fen), color)
        self._examined: Examined | None = None
        self._looked_at = LOOKED_AT

    # --- What happens -------------------------------------------------------------------------------------------

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        self._examined = None
        self._known.opponent_moved(capture)
        self._guess.opponent_moved(self._known.positions.own, capture)

    def saw(self, cells: Iterable[Cell]) -> None:
        """Record the result of the player's sense."""
        seen = list(cells)
        self._examined = None
        self._known.saw(seen)
        self._guess.saw(seen)

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the player's move, after which the game goes on."""
        self._examined = None
        self._known.player_moved(requested, taken, capture)
        self._guess.moved(requested, taken, capture)

    def limit(self, cap: int, share: float = 1.0) -> None:
        """Keep at most so many positions from the next event on.

        :param share: of the work that is done where there is time, 0 to 1: fewer positions are then kept, examined and
            weighed, but always some.
        """
        self._looked_at = max(LEAST_LOOKED_AT, int(share * LOOKED_AT))
        self._known.limit(cap, share)

    # --- What is known ------------------------------------------------------------------------------------------

    @property
    def kept(self) -> int:
        """How many possible positions are kept."""
        return len(self._known.positions)

    def examined(self) -> Examined:
        """Return possible positions: all, or the likeliest, as many as are examined; the guess if none is left."""
        if self._examined is None:
            rows, weights = self._known.likeliest(self._looked_at)
            if len(rows):
                self._examined = examine(rows, weights, *self._known.own_rows())
            else:
                state, numbers = written(ReconBoard.of(self._guess.board))
                self._examined = Examined.of(state[None], numbers[None], np.ones(1))
        return self._examined

    def drawn(self, count: int, rng: random.Random) -> Examined:
        """Return so many of the positions examined, drawn by how likely they are; all where there are no more."""
        found = self.examined()
        return found.chosen(np.array(draw(found.weights, count, rng), np.int64))

    def best_sense(self, squares: Collection[Square], alarm: float) -> Square:
        """Return the square of which a sense has the most expected information; the guess's where that is all there is.

        :param squares: those allowed.
        :param alarm: the factor on the information about an attack on the player's king, which is added.
        """
        found, bits = self.examined(), np.full(64, -1.0)
        if self.kept:
            value_senses(found.states, found.weights, found.attacked, alarm, bits)
        worth = {square: bits[seen_by(square, self.color)] for square in squares}
        best = max(worth, key=worth.__getitem__)
        return best if worth[best] >= 0 else self._guess.best_sense(squares)

    def belief(self) -> Belief:
        """Return the probability of each piece of the opponent's on each square, by the positions examined."""
        return belief_of(self.examined(), self.color)


def belief_of(examined: Examined, color: Color) -> Belief:
    """Return how often each square holds which piece, over at least one position of a player of that colour."""
    pieces, shares = pieces_on(examined.states), examined.weights / examined.weights.sum()
    belief = np.stack([shares @ (pieces == kind) for kind in (*range(1, 7), 0)]).reshape(7, 8, 8)
    belief /= belief.sum(axis=0)
    return belief if color else belief[:, ::-1]


def draw(weights: Weights, count: int, rng: random.Random) -> list[int]:
    """Return so many different indexes, drawn by their weights; all where there are no more."""
    # Each has the largest key in proportion to its weight (Efraimidis and Spirakis, in logarithms).
    keys = [math.log(1 - rng.random()) / weight for weight in weights]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=True)[:count]
