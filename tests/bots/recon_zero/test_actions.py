"""Every move of reconnaissance blind chess has a number, and every number one move."""

from __future__ import annotations

import random

import chess
import pytest

from gm_bots.recon_zero.actions import ACTIONS, PASS, index_of, move_of
from gm_recon import ReconGame


@pytest.mark.parametrize("color", chess.COLORS)
def test_numbers_and_moves_correspond_one_to_one(color: chess.Color) -> None:
    moves = {}
    for index in range(ACTIONS):
        squares, _ = divmod(index, 5)
        if index != PASS and squares // 64 == squares % 64:
            with pytest.raises(ValueError, match=f"{index} stands for no move"):
                move_of(index, color)
            continue
        move = move_of(index, color)
        assert index_of(move, color) == index
        moves[move] = index
    assert len(moves) == 1 + 64 * 63 * 5


def test_numbering_has_known_values_at_its_corners() -> None:
    assert ACTIONS == 20_480
    assert index_of(None, chess.WHITE) == index_of(None, chess.BLACK) == 0
    assert index_of(chess.Move.from_uci("a1b1"), chess.WHITE) == 5
    assert index_of(chess.Move.from_uci("h8g8q"), chess.WHITE) == (63 * 64 + 62) * 5 + 4
    assert index_of(chess.Move.from_uci("e2e4"), chess.WHITE) == index_of(chess.Move.from_uci("e7e5"), chess.BLACK)
    assert index_of(chess.Move.from_uci("a7b8n"), chess.WHITE) == index_of(chess.Move.from_uci("a2b1n"), chess.BLACK)


@pytest.mark.parametrize("uci", ["0000", "e7e8k", "e7e8p", "P@e4"])
def test_impossible_move_has_no_number(uci: str) -> None:
    with pytest.raises(ValueError, match="is not a move of reconnaissance blind chess"):
        index_of(chess.Move.from_uci(uci), chess.WHITE)


def test_every_requestable_move_in_games_has_its_own_number() -> None:
    """These include castling, promotions, and pawn captures that may find nothing."""
    promotions = 0
    for seed in range(8):
        rng = random.Random(seed)
        game = ReconGame("1n2k3/PP5P/8/8/8/8/pp5p/R3K2R w KQ - 0 1" if seed % 2 else chess.STARTING_FEN)
        while not game.is_over() and game.ply < 120:
            game.sense(None)
            color, asked = game.turn, [None, *game.move_actions()]
            numbers = [index_of(move, color) for move in asked]
            assert len(set(numbers)) == len(asked)
            assert [move_of(number, color) for number in numbers] == asked
            promotions += sum(move is not None and move.promotion is not None for move in asked)
            game.move(rng.choice(asked))
    assert promotions > 0
