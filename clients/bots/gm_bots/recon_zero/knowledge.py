"""A player's knowledge in a game: the possible positions, and a belief.

Every possible position is kept (:mod:`.lockstep.weighted`), or a sample where there are too many. The belief of
:mod:`.belief` is coarser, and never excludes the truth. The knowledge is that of the positions, mixed with a little of
the belief where they are only a sample; it is the belief alone where no position is left, or where positions are not
kept.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import chess
import numpy as np
from chess import Board, Color, Move, Square

from gm_recon import Cell

from . import belief as beliefs
from .lockstep.weighted import CAP, Weighing, known_positions
from .opponent_turn import opponent_moved
from .positions import Channels, Weights, belief_of, channels_of

#: Positions examined, the likeliest; and at least, with little time. If there are no more, the belief is exact.
LOOKED_AT, LEAST_LOOKED_AT = 1_000, 100
#: The share of the belief that excludes nothing, where the positions are only a sample of the possible ones.
CAUTION = 0.05


class Knowledge:
    """The knowledge of a player. All events must be reported in the order in which they happen.

    :ivar color: the player's colour.
    :ivar own: its own pieces.
    """

    def __init__(
        self,
        color: Color,
        fen: str = chess.STARTING_FEN,
        *,
        positions: bool = True,
        cap: int = CAP,
        rng: random.Random | None = None,
        weighing: Weighing | None = None,
    ) -> None:
        """:param positions: whether to keep possible positions, or only a belief.
        :param weighing: what positions weigh by; None if all weigh the same.
        :raises ValueError: the FEN cannot be read, or is not a start position.
        """
        self.color = color
        self._known = known_positions(color, rng or random.Random(), weighing, fen, cap) if positions else None
        board = Board(fen)
        self._captured = 0
        self._theirs = chess.popcount(board.occupied_co[not color])
        self._belief = beliefs.certain(board, color)
        self._drawn: tuple[list[Board], Channels, Weights] | None = None
        self._looked_at = LOOKED_AT
        self.own = _pieces_of(board, color)

    @property
    def remaining(self) -> int:
        """How many pieces the opponent has. It is known, since every capture is reported."""
        return self._theirs - self._captured

    # --- What happens -------------------------------------------------------------------------------------------

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        self._drawn = None
        if self._known is not None:
            self._known.opponent_moved(capture)
        opponent_moved(self._belief, self.own, self.color, capture)
        if capture is not None:
            self.own.remove_piece_at(capture)
            self.own.castling_rights &= ~chess.BB_SQUARES[capture]
        self.own.ep_square = None
        self.own.fullmove_number += self.color  # Black has moved; python-chess counts the player's moves
        self.own.turn = self.color

    def saw(self, cells: Iterable[Cell]) -> None:
        """Record the result of the player's sense."""
        seen = list(cells)
        self._drawn = None
        if self._known is not None:
            self._known.saw(seen)
        beliefs.saw(self._belief, seen, self.color)

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the player's move, after which the game goes on."""
        self._drawn = None
        if self._known is not None:
            self._known.player_moved(requested, taken, capture)
        beliefs.player_moved(self._belief, self.own, requested, taken, capture)
        self._captured += capture is not None
        self.own.turn = self.color
        self.own.push(taken or Move.null())
        self.own.clear_stack()

    def limit(self, cap: int, share: float = 1.0) -> None:
        """Keep at most so many positions from the next event on.

        :param share: of the work that is done where there is time, 0 to 1: fewer positions are then kept, examined and
            weighed, but always some.
        """
        self._looked_at = max(LEAST_LOOKED_AT, int(share * LOOKED_AT))
        if self._known is not None:
            self._known.limit(cap, share)

    # --- What is known ------------------------------------------------------------------------------------------

    @property
    def kept(self) -> int:
        """How many possible positions are kept."""
        return 0 if self._known is None else len(self._known.positions)

    @property
    def complete(self) -> bool:
        """Whether every possible position is kept."""
        return self._known is not None and self._known.positions.complete

    def positions(self) -> Sequence[Board]:
        """Return possible positions: all, or the likeliest, as many as are examined; none if none is kept."""
        return self._look()[0]

    def channels(self) -> Channels:
        """Return :meth:`positions` as an array."""
        return self._look()[1]

    def weights(self) -> Weights:
        """Return how likely each of :meth:`positions` is, as multiples of one another."""
        return self._look()[2]

    def belief(self, weights: Weights | None = None) -> beliefs.Belief:
        """Return the belief about each square.

        :param weights: the weight of each of :meth:`positions`; None for those that say how likely it is.
        """
        weights = self.weights() if weights is None else weights
        channels = self.channels()
        if not len(channels):
            return self._belief.copy()
        found = belief_of(channels, weights)
        if self._exact and np.all(weights > 0):
            return found
        return (1 - CAUTION) * found + CAUTION * self._belief

    @property
    def _exact(self) -> bool:
        return self._known is not None and self.complete and len(self._known.positions) <= self._looked_at

    def _look(self) -> tuple[list[Board], Channels, Weights]:
        if self._drawn is None:
            boards, weights = list[Board](), np.empty(0)
            if self._known is not None:
                rows, weights = self._known.likeliest(self._looked_at)
                boards = self._known.boards(rows)
            self._drawn = boards, channels_of(boards, self.color), weights
        return self._drawn


def _pieces_of(board: Board, color: Color) -> Board:
    own = board.copy(stack=False)
    own.castling_rights &= chess.BB_RANK_1 if color else chess.BB_RANK_8
    for square in chess.scan_forward(board.occupied_co[not color]):
        own.remove_piece_at(square)
    if board.turn == color:
        own.ep_square = None
    return own
