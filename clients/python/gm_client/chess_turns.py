"""Turns in python-chess's terms, for the clients that may import it."""

from __future__ import annotations

import chess
from chess import Move, Piece, Square

from . import blocking
from .blocking import SenseResult

#: A square sensed, and its piece.
Sensed = list[tuple[Square, Piece | None]]
#: A move: python-chess's, or its text in UCI, or where all is shown in SAN.
AnyMove = str | Move

#: The variants that hide something.
_HIDDEN = frozenset({"rbc", "dark_chess"})
#: The protocol's letters, in the order of python-chess's piece types.
_LETTERS = " pNBRQK"


def read_square(name: str | None) -> Square | None:
    """Read a square of the protocol: ``"e4"``, or None."""
    return None if name is None else chess.parse_square(name)


def read_move(uci: str | None) -> Move | None:
    """Read a move of the protocol, or None."""
    return None if uci is None else Move.from_uci(uci)


def read_piece(name: str | None) -> Piece | None:
    """Read a piece of the protocol: ``"wp"``, ``"bQ"``, or None."""
    return None if name is None else Piece(_LETTERS.index(name[1]), name[0] == "w")


def read_sense(result: SenseResult) -> Sensed:
    """Read a sense result of the protocol into python-chess's terms."""
    return [(chess.parse_square(square), read_piece(piece)) for square, piece in result]


def written(move: AnyMove | None) -> str | None:
    """Return a move as the server reads it."""
    return move.uci() if isinstance(move, Move) else move


class TurnView(blocking.TurnView):
    """The data of a turn, with its board."""

    @property
    def board(self) -> chess.Board:
        """A new board with the position of the latest state; its move stack is empty.

        :raises ValueError: the game's variant hides a part of the position.
        """
        state = self.state
        if state["variant"] in _HIDDEN:
            raise ValueError(f"board: a game of {state['variant']} does not show its position; see state")
        if state["variant"] == "crazyhouse":
            from chess.variant import CrazyhouseBoard  # slow to import, and needed here alone

            return CrazyhouseBoard(state["fen"])
        return chess.Board(state["fen"], chess960=state["variant"] == "chess960")
