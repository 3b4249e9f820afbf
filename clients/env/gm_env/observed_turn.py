"""What a player observed in a turn, read from its observation (``gm_env.OBSERVATION``) in python-chess's terms."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
from chess import Board, Color, Move, Piece, Square
from numpy.typing import NDArray

from gm_recon import Cell

from .actions import seen_by

_LOST, _SENSED, _MADE_FROM, _MADE_TO, _CAPTURED, _CASTLING, _TURNS = 13, 12, 16, 17, 18, 19, 23


class ObservedTurn:
    """One player's observation of one turn."""

    def __init__(self, observation: NDArray[Any], color: Color) -> None:
        """:param observation: uint8[24, 8, 8]."""
        self._planes, self.color = observation.reshape(-1, 64), color

    @property
    def turns(self) -> int:
        """The turns that the player has completed, 255 at the most."""
        return int(self._planes[_TURNS, 0])

    def own_board(self) -> Board:
        """Return the player's own pieces and castling rights, with the player to move."""
        board = Board.empty()
        for kind in chess.PIECE_TYPES:
            for square in self._squares(kind - 1):
                board.set_piece_at(square, Piece(kind, self.color))
        board.castling_rights = chess.SquareSet(self._squares(_CASTLING)).mask
        board.turn = self.color
        return board

    def lost(self) -> Square | None:
        """Return where the opponent's last move captured."""
        return self._square(_LOST)

    def captured(self) -> Square | None:
        """Return where the player's last move captured."""
        return self._square(_CAPTURED)

    def made(self, requested: Move | None) -> Move | None:
        """Return the player's last move as it was made; None if nothing moved.

        :param requested: the move as requested, whose promotion it keeps. One without becomes a queen's.
        """
        source, target = self._square(_MADE_FROM), self._square(_MADE_TO)
        if source is None or target is None or requested is None:
            return None
        return Move(source, target, requested.promotion)

    def cells(self) -> list[Cell]:
        """Return what the player sensed this turn, in reconchess's order; nothing if it has not sensed."""
        found: list[Cell] = []
        for square in sorted(self._squares(_SENSED), key=lambda square: (-chess.square_rank(square), square)):
            kinds = np.flatnonzero(self._planes[:12, seen_by(square, self.color)])
            kind = int(kinds[0]) if kinds.size else None
            found.append((square, None if kind is None else Piece(kind % 6 + 1, self.color == (kind < 6))))
        return found

    def _squares(self, plane: int) -> list[Square]:
        return [seen_by(square, self.color) for square in np.flatnonzero(self._planes[plane]).tolist()]

    def _square(self, plane: int) -> Square | None:
        squares = self._squares(plane)
        return squares[0] if squares else None
