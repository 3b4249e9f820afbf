"""Helpers for bots of reconnaissance blind chess, on python-chess's boards.

The rules are the daemon's, :mod:`gm_recon`. A board is either the player's own, with only its pieces, or one that
might be the true one: a guess, or one of the positions of a :class:`~gm_client.tracker.Tracker`.
"""

from __future__ import annotations

from chess import Board, Move, Square

from gm_recon import Cell, ReconBoard
from gm_recon.possible import SENSE_SQUARES as SENSE_SQUARES

from .blocking import GameState
from .chess_turns import read_move as read_move
from .chess_turns import read_piece as read_piece
from .chess_turns import read_sense as read_sense
from .chess_turns import read_square as read_square


def own_board(state: GameState) -> Board:
    """Return the player's own pieces and castling rights from a state that it was shown, with the player to move.

    After the end of the game a state shows everything, and so does the board.
    """
    return Board(state["fen"])


def possible_moves(board: Board) -> list[Move]:
    """Return the moves that the side to move may request. Only its own pieces on the board count.

    They are in the order of ``move_actions``, of the server and of reconchess. Passing is possible too.
    """
    return ReconBoard.of(board).move_actions()


def simulate_sense(board: Board, square: Square) -> list[Cell]:
    """Return the squares and pieces that a sense would show if the board were the true one."""
    return ReconBoard.of(board).window(square)


def simulate_move(board: Board, requested: Move | None) -> tuple[Move | None, Square | None]:
    """Return the result of a move of the side to move if the board were the true one, without making it.

    :param requested: None to pass.
    :returns: the move made, None if nothing would move, and the square it would capture on, or None. A promotion
        without a piece is to a queen. To make it: ``board.push(taken or chess.Move.null())``.
    :raises ValueError: the move may not be requested.
    """
    return (None, None) if requested is None else ReconBoard.of(board).revise(requested)
