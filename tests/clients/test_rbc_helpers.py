"""Helpers for bots of blind chess: the server's rules on boards of python-chess, and readers of the wire's words."""

from __future__ import annotations

import random

import chess
import pytest
from chess import Board, Move
from reconchess import LocalGame
from reconchess.utilities import without_opponent_pieces

from gm_client import connect
from gm_client.rbc import (
    own_board,
    possible_moves,
    read_move,
    read_piece,
    read_sense,
    read_square,
    simulate_move,
    simulate_sense,
)
from tests.serving import Served


@pytest.mark.parametrize("seed", range(2))
def test_helpers_agree_with_reconchess_in_whole_games(seed: int) -> None:
    rng = random.Random(seed)
    game = LocalGame(None, None)
    game.start()
    while not game.is_over():
        board: Board = game.board.copy()
        fen = board.fen()
        own = without_opponent_pieces(board)
        square = rng.choice(game.sense_actions())
        assert possible_moves(own) == possible_moves(board) == game.move_actions()
        assert simulate_sense(board, square) == game.sense(square)
        requested = rng.choice([None, *game.move_actions()])
        expected = simulate_move(board, requested)
        _, taken, capture = game.move(requested)
        assert expected == (taken, capture)
        assert board.fen() == fen  # the board is unchanged
        game.end_turn()


def test_move_that_cannot_be_requested_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^e2e5 "):
        simulate_move(Board(), Move.from_uci("e2e5"))


def test_server_shows_the_board_of_the_player(daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as client:
        game_id = client.new_game(51, 52, variant="rbc")["game_id"]
        for turn in client.turns(game_id, player=51):
            board = own_board(turn.state)
            assert board == without_opponent_pieces(Board())
            assert board.turn == chess.WHITE
            assert [move.uci() for move in possible_moves(board)] == turn.move_actions
            assert turn.sense("e7") == simulate_sense(Board(), chess.E7) == read_sense(turn.reply["sense_result"])
            reply = turn.move("e2e4")
            assert read_move(reply["taken_move"]) == Move.from_uci("e2e4")
            assert own_board(turn.state).piece_at(chess.E4) == chess.Piece(chess.PAWN, chess.WHITE)
            client.end_game(game_id, "resignation_black", player=52)


def test_words_of_the_wire_are_parsed() -> None:
    assert (read_square("e4"), read_square(None)) == (chess.E4, None)
    assert (read_move("e7e8q"), read_move(None)) == (Move(chess.E7, chess.E8, chess.QUEEN), None)
    assert [read_piece(name) for name in ("wp", "bN", "wB", "bR", "wQ", "bK", None)] == [
        *(chess.Piece.from_symbol(symbol) for symbol in "PnBrQk"),
        None,
    ]
