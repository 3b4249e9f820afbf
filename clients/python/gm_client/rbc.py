"""What bots of reconnaissance blind chess otherwise write by hand, on python-chess's boards.

The rules are the daemon's, :mod:`gm_recon`. A board is either the player's own, with its pieces alone, or one that
might be the true one: a guess, or one of the positions of a :class:`~gm_client.tracker.Tracker`.
"""

from __future__ import annotations

import chess
from chess import Board, Move, Piece, Square

from gm_recon import Cell, ReconBoard

from .blocking import GameState, SenseResult

#: Squares whose window is whole. Each shows all that the windows clipped at an edge show, and more.
SENSE_SQUARES = [chess.square(file, rank) for rank in range(1, 7) for file in range(1, 7)]

#: The wire's letters, in the order of python-chess's piece types.
_LETTERS = " pNBRQK"


def own_board(state: GameState) -> Board:
    """The player's own pieces and castling rights, with the player to move, out of a state it was shown.

    Once the game is over a state shows everything, and so does the board.
    """
    return Board(state["fen"])


def possible_moves(board: Board) -> list[Move]:
    """What the side to move may ask for, knowing its own pieces only: the others on the board do not count.

    In the order of ``move_actions``, of the server's and of reconchess. Passing is possible too.
    """
    return ReconBoard.of(board).move_actions()


def simulate_sense(board: Board, square: Square) -> list[Cell]:
    """What a sense of a square would show if the board were the true one: squares with what stands on them."""
    return ReconBoard.of(board).window(square)


def simulate_move(board: Board, requested: Move | None) -> tuple[Move | None, Square | None]:
    """What would become of a move of the side to move if the board were the true one; it is not made.

    :param requested: None to pass.
    :returns: the move taken, None if nothing would move, and the square it would capture on, or None. A promotion
        without a piece is to a queen. To make it: ``board.push(taken or chess.Move.null())``.
    :raises ValueError: the move may not be asked for.
    """
    return (None, None) if requested is None else ReconBoard.of(board).revise(requested)


def read_square(name: str | None) -> Square | None:
    """A square of the wire: ``"e4"``, or None."""
    return None if name is None else chess.parse_square(name)


def read_move(uci: str | None) -> Move | None:
    """A move of the wire, or None."""
    return None if uci is None else Move.from_uci(uci)


def read_piece(name: str | None) -> Piece | None:
    """A piece of the wire: ``"wp"``, ``"bQ"``, or None."""
    return None if name is None else Piece(_LETTERS.index(name[1]), name[0] == "w")


def read_sense(result: SenseResult) -> list[Cell]:
    """A sense result of the wire as :func:`simulate_sense` gives it."""
    return [(chess.parse_square(square), read_piece(piece)) for square, piece in result]
