"""Boards for property tests: reached by play, scattered at random, or possible in blind chess only."""

from __future__ import annotations

import random

import chess
from chess import Board, Color, Square
from chess.variant import CrazyhouseBoard
from hypothesis import assume
from hypothesis import strategies as st

from tests.games.playing import STYLES, choose

MEN = [chess.Piece.from_symbol(symbol) for symbol in "PNBRQpnbrq"]
IN_HAND = "pnbrq"
#: Longest random play before a position is examined.
MAX_PLIES = 120

squares = st.sampled_from(chess.SQUARES)


def new_board(*, crazyhouse: bool, chess960: bool, fen: str | None = None) -> Board:
    """Return a board of one of the four families, empty unless a FEN is given."""
    return CrazyhouseBoard(fen, chess960=chess960) if crazyhouse else Board(fen, chess960=chess960)


@st.composite
def played_boards(draw: st.DrawFn) -> Board:
    """Return a position that play has led to, in a game that is not over."""
    board = new_board(crazyhouse=draw(st.booleans()), chess960=draw(st.booleans()))
    if board.chess960:
        board.set_chess960_pos(draw(st.integers(0, 959)))
    else:
        board.reset()
    style = draw(st.sampled_from(list(STYLES)))
    rng = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, MAX_PLIES))):
        if not any(board.legal_moves):
            board.pop()
            break
        board.push(choose(board, style, rng))
    return board


@st.composite
def scattered_boards(draw: st.DrawFn) -> Board:
    """Return a valid position with pieces anywhere: many queens, impossible pawns, checks, pins, castling rights."""
    crazyhouse = draw(st.booleans())
    board = new_board(crazyhouse=crazyhouse, chess960=draw(st.booleans()))
    _scatter(draw, board, max_men=14)
    _give_kings_turn_and_rights(draw, board)
    if isinstance(board, CrazyhouseBoard):
        for color in chess.COLORS:
            board.pockets[color] = chess.variant.CrazyhousePocket(draw(st.text(IN_HAND, max_size=4)))
    if not board.is_valid():
        board.ep_square, board.turn = None, not board.turn
    assume(board.is_valid())
    return board


@st.composite
def lawless_boards(draw: st.DrawFn) -> Board:
    """Return a position of blind chess: a king may be missing, left in check by its own side, or next to the other
    king.
    """
    board = new_board(crazyhouse=False, chess960=False)
    _scatter(draw, board, max_men=20)
    for color in chess.COLORS:
        if draw(st.integers(0, 4)):
            square = draw(squares)
            if board.piece_type_at(square) != chess.KING:
                board.set_piece_at(square, chess.Piece(chess.KING, color))
    board.turn = draw(st.booleans())
    return board


@st.composite
def recon_boards(draw: st.DrawFn) -> Board:
    """Return a start position of reconnaissance blind chess: one king a side, no pawn on a last rank, check or no
    check.
    """
    board = new_board(crazyhouse=False, chess960=False)
    _scatter(draw, board, max_men=30)
    _give_kings_turn_and_rights(draw, board)
    board.halfmove_clock, board.fullmove_number = draw(st.integers(0, 99)), draw(st.integers(1, 200))
    return board


boards = played_boards() | scattered_boards()


def _scatter(draw: st.DrawFn, board: Board, max_men: int) -> None:
    men = draw(st.dictionaries(squares, st.sampled_from(MEN), max_size=max_men))
    for square, man in men.items():
        if man.piece_type != chess.PAWN or 0 < chess.square_rank(square) < 7:
            board.set_piece_at(square, man)


def _give_kings_turn_and_rights(draw: st.DrawFn, board: Board) -> None:
    """Put a king of each side on a square, and draw the side to move, castling rights and en passant square."""
    white, black = draw(st.tuples(_kings(board, chess.WHITE), _kings(board, chess.BLACK)))
    assume(white != black)
    board.set_piece_at(white, chess.Piece(chess.KING, chess.WHITE))
    board.set_piece_at(black, chess.Piece(chess.KING, chess.BLACK))
    board.turn = draw(st.booleans())
    _give_rights(draw, board)
    board.ep_square = draw(st.sampled_from([None, *_passed_squares(board)]))


def _kings(board: Board, color: Color) -> st.SearchStrategy[Square]:
    """Return a strategy for any square, often one of the first rank, where castling begins."""
    home = chess.BB_RANK_1 if color else chess.BB_RANK_8
    return squares | st.sampled_from(list(chess.scan_forward(home)))


def _give_rights(draw: st.DrawFn, board: Board) -> None:
    """Set castling rights of some rooks that could have them, after placing some rooks."""
    rights = 0
    for color, home in ((chess.WHITE, chess.BB_RANK_1), (chess.BLACK, chess.BB_RANK_8)):
        king = board.king(color)
        assert king is not None
        if not chess.BB_SQUARES[king] & home:
            continue
        corners = [chess.lsb(home), chess.msb(home)]
        rook = draw(st.sampled_from(list(chess.scan_forward(home)) if board.chess960 else corners))
        if draw(st.booleans()) and board.piece_type_at(rook) != chess.KING:
            board.set_piece_at(rook, chess.Piece(chess.ROOK, color))
            rights |= chess.BB_SQUARES[rook]
    board.castling_rights = rights
    board.castling_rights = board.clean_castling_rights()


def _passed_squares(board: Board) -> list[Square]:
    """Return the squares that a pawn of the side that has just moved may have passed over."""
    rank, back, ahead = (5, 8, -8) if board.turn else (2, -8, 8)
    pawns = board.pieces_mask(chess.PAWN, not board.turn)
    return [
        square
        for square in chess.scan_forward(chess.BB_RANKS[rank])
        if chess.BB_SQUARES[square + ahead] & pawns
        and not (chess.BB_SQUARES[square] | chess.BB_SQUARES[square + back]) & board.occupied
    ]
