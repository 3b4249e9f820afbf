"""Positions of reconnaissance blind chess, compared with reconchess's own functions over python-chess."""

from __future__ import annotations

import chess
import pytest
from chess import Board, Move
from hypothesis import given
from hypothesis import strategies as st
from reconchess.utilities import add_pawn_queen_promotion, capture_square_of_move, move_actions, revise_move

from gm_recon import ReconBoard
from tests.games.strategies import recon_boards

any_moves = st.builds(
    Move, st.sampled_from(chess.SQUARES), st.sampled_from(chess.SQUARES), st.sampled_from([None, *chess.PIECE_TYPES])
)


@given(recon_boards())
def test_every_move_action_has_the_result_of_reconchess(board: Board) -> None:
    ours = ReconBoard(board.fen(en_passant="fen"))
    actions = move_actions(board)
    assert ours.move_actions() == actions
    for action in actions:
        for requested in {action, Move(action.from_square, action.to_square)} if action.promotion else {action}:
            move = add_pawn_queen_promotion(board, requested)
            taken = revise_move(board, move)
            capture = capture_square_of_move(board, taken)
            assert ours.revise(requested) == (taken, capture)
            assert ours.promoting(requested) == move
            after, theirs = ours.copy(), board.copy(stack=False)
            after.push(taken, capture)
            theirs.push(taken or Move.null())
            assert after.fen() == theirs.fen(en_passant="fen")
            assert after.move_actions() == move_actions(theirs)
    assert ours.fen() == board.fen(en_passant="fen")


@given(recon_boards(), st.lists(any_moves, max_size=50))
def test_no_other_move_can_be_requested(board: Board, moves: list[Move]) -> None:
    ours = ReconBoard(board.fen(en_passant="fen"))
    actions = move_actions(board)
    for requested in moves:
        if add_pawn_queen_promotion(board, requested) not in actions:
            with pytest.raises(ValueError, match="is not among the move actions"):
                ours.revise(requested)
    with pytest.raises(ValueError, match="is not among the move actions"):
        ours.revise(Move.null())
    with pytest.raises(ValueError, match="is not among the move actions"):
        ours.revise(Move.from_uci("N@e4"))


@given(recon_boards())
def test_board_agrees_with_python_chess(board: Board) -> None:
    ours = ReconBoard(board.fen(en_passant="fen"))
    assert ours.as_chess() == board
    assert ours.as_chess().fen(en_passant="fen") == board.fen(en_passant="fen")
    for square in chess.SQUARES:
        assert ours.piece_at(square) == board.piece_at(square)
        assert ours.has_king(square) == (board.piece_type_at(square) == chess.KING)
    for color in chess.COLORS:
        assert ours.occupied_by(color) == board.occupied_co[color]


REFUSED = {
    "8/8/8/8/8/8/8/8 w - - 0 1": "empty",
    "8/8/8/3k4/8/8/8/8 w - - 0 1": "no white king",
    "8/8/8/3K4/8/8/8/8 w - - 0 1": "no black king",
    "k6K/8/8/3K4/8/8/8/8 w - - 0 1": "too many kings",
    "k6P/8/8/3K4/8/8/8/8 w - - 0 1": "pawns on backrank",
    "k7/8/8/3K4/8/8/8/p7 w - - 0 1": "pawns on backrank",
    "k7/8/8/3K4/8/8/8/8 w K - 0 1": "bad castling rights",
    "k7/8/8/3K4/8/8/8/8 w - e6 0 1": "invalid ep square",
    "nonsense": "expected 8 rows",
}


@pytest.mark.parametrize(("fen", "why"), REFUSED.items())
def test_invalid_start_position_is_refused(fen: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ReconBoard(fen)
