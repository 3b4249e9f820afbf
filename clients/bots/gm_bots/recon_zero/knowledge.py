"""All that one player knows in a game: the positions that are possible, and a belief beside them.

The tracker of the Python client has every position that is possible, or a part of them where there are too many. The
belief of :mod:`.belief` is coarser, and never excludes what is true. What is told here is the first, with a little of
the second wherever the positions are but a part; and the second alone where none of the positions is left, or where
positions are not to be kept at all.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import chess
import numpy as np
from chess import Board, Color, Move, Square

from gm_client.tracker import Tracker
from gm_recon import Cell

from . import belief as beliefs
from .opponent_turn import opponent_moved
from .positions import Channels, Weights, belief_of, channels_of

#: Positions kept. Between players who sense, there are some fifty behind a sense, and a thousand before it; a hundred
#: thousand take some 15 MB and a second to expand.
CAP = 100_000
#: Positions that are looked at to say what is believed. If there are no more, the belief is exact.
LOOKED_AT = 1_000
#: The share of the belief that excludes nothing, where the positions are but a part of those that are possible.
CAUTION = 0.05


class Knowledge:
    """What a player knows. To be told of everything in the order in which it happens.

    :ivar color: the player's.
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
    ) -> None:
        """:param positions: whether possible positions are kept, or nothing but a belief.
        :raises ValueError: the FEN cannot be read, or is no position to start from.
        """
        self.color = color
        self._tracker = Tracker(color, fen, cap=cap, rng=rng) if positions else None
        board = Board(fen)
        self._captured = 0
        self._theirs = chess.popcount(board.occupied_co[not color])
        self._belief = beliefs.certain(board, color)
        self._drawn: tuple[list[Board], Channels] | None = None
        self.own = _pieces_of(board, color)

    @property
    def remaining(self) -> int:
        """How many pieces the opponent has. Every capture is told, so it is known."""
        return self._theirs - self._captured

    # --- What happens -------------------------------------------------------------------------------------------

    def opponent_moved(self, capture: Square | None) -> None:
        """The opponent has had its turn, and captured on a square, or nothing."""
        self._drawn = None
        if self._tracker is not None:
            self._tracker.opponent_moved(capture)
        opponent_moved(self._belief, self.own, self.color, capture)
        if capture is not None:
            self.own.remove_piece_at(capture)
            self.own.castling_rights &= ~chess.BB_SQUARES[capture]
        self.own.ep_square = None
        self.own.fullmove_number += self.color  # Black has moved; after the player's own moves python-chess counts
        self.own.turn = self.color

    def saw(self, cells: Iterable[Cell]) -> None:
        """The player has sensed."""
        seen = list(cells)
        self._drawn = None
        if self._tracker is not None:
            self._tracker.saw(seen)
        beliefs.saw(self._belief, seen, self.color)

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """The player has asked for a move, and this came of it. The game goes on."""
        self._drawn = None
        if self._tracker is not None:
            self._tracker.player_moved(requested, taken, capture)
        beliefs.player_moved(self._belief, self.own, requested, taken, capture)
        self._captured += capture is not None
        self.own.turn = self.color
        self.own.push(taken or Move.null())
        self.own.clear_stack()

    # --- What is known ------------------------------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        """Whether every position that is possible is kept."""
        return self._tracker is not None and self._tracker.complete

    def positions(self) -> Sequence[Board]:
        """Positions that are possible: all, or so many of them as are looked at, or none if none is kept."""
        return self._look()[0]

    def channels(self) -> Channels:
        """The same, as an array."""
        return self._look()[1]

    def belief(self, weights: Weights | None = None) -> beliefs.Belief:
        """What is believed of each square.

        :param weights: how likely each of :meth:`positions` is, which are all the same unless told otherwise.
        """
        channels = self.channels()
        if not len(channels):
            return self._belief.copy()
        found = belief_of(channels, weights)
        if self._exact and (weights is None or np.all(weights > 0)):
            return found
        return (1 - CAUTION) * found + CAUTION * self._belief

    @property
    def _exact(self) -> bool:
        return self._tracker is not None and self._tracker.complete and len(self._tracker) <= LOOKED_AT

    def _look(self) -> tuple[list[Board], Channels]:
        if self._drawn is None:
            boards = [] if self._tracker is None else self._tracker.sample(LOOKED_AT)
            self._drawn = boards, channels_of(boards, self.color)
        return self._drawn


def _pieces_of(board: Board, color: Color) -> Board:
    own = board.copy(stack=False)
    own.castling_rights &= chess.BB_RANK_1 if color else chess.BB_RANK_8
    for square in chess.scan_forward(board.occupied_co[not color]):
        own.remove_piece_at(square)
    if board.turn == color:
        own.ep_square = None
    return own
