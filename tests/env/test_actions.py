"""The encodings of moves and senses, and the maps between them."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from chess import Color, Move

from gm_env import (
    FROM_TO_BY_PLANES,
    FROM_TO_PROMOTIONS,
    INNER_BY_SQUARE,
    INNER_SQUARES,
    MOVES,
    PASS,
    PLANES_BY_FROM_TO,
    SENSE_PASS,
    action_of,
    move_of,
    sense_of,
    square_of,
)
from gm_recon import ReconGame
from tests.side_by_side import POSITIONS


def test_there_are_as_many_moves_as_alphazero_has() -> None:
    """1,792 moves within the board: 1,456 of queens, 336 of knights; and 22 * 3 promotions to less than a queen."""
    known = FROM_TO_BY_PLANES[0] >= 0
    assert known.sum() == 1_456 + 336 + 66 + 1
    assert (FROM_TO_BY_PLANES[1] >= 0).sum() == known.sum()


def test_numbers_by_planes_and_by_from_and_to_are_the_same_moves() -> None:
    for is_pawn in (0, 1):
        known = np.flatnonzero(FROM_TO_BY_PLANES[is_pawn] >= 0)
        assert (PLANES_BY_FROM_TO[FROM_TO_BY_PLANES[is_pawn, known]] == known).all()
    assert PLANES_BY_FROM_TO.shape == (FROM_TO_PROMOTIONS,)
    assert (PLANES_BY_FROM_TO[0], FROM_TO_BY_PLANES[0, PASS]) == (PASS, 0)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("seed", range(2))
def test_every_move_that_may_be_requested_has_a_number_and_comes_back(position: str, seed: int) -> None:
    rng, game = random.Random(seed), ReconGame(POSITIONS[position])
    for _ in range(20):
        if game.is_over():
            break
        color, pawns = game.turn, game.board.as_chess().pawns
        for move in game.move_actions():
            number = action_of(move, color)
            assert 0 <= number < PASS
            assert move_of(number, color, pawns) == game.board.promoting(move)
        game.sense(None)
        game.move(rng.choice(game.move_actions()))


@pytest.mark.parametrize(
    ("uci", "color", "plane", "source"),
    [
        ("e2e4", chess.WHITE, 1, chess.E2),
        ("e7e5", chess.BLACK, 1, chess.E2),
        ("g1f3", chess.WHITE, 56 + 7, chess.G1),
        ("b8a6", chess.BLACK, 56 + 7, chess.B1),
        ("a1h8", chess.WHITE, 7 + 6, chess.A1),
        ("e1c1", chess.WHITE, 42 + 1, chess.E1),
        ("a7a8q", chess.WHITE, 0, chess.A7),
        ("a7a8", chess.WHITE, 0, chess.A7),
        ("a7b8n", chess.WHITE, 64 + 2, chess.A7),
        ("b2a1r", chess.BLACK, 64 + 6, chess.B7),
        ("h7h8b", chess.WHITE, 64 + 4, chess.H7),
    ],
)
def test_numbers_are_as_documented(uci: str, color: Color, plane: int, source: int) -> None:
    assert action_of(Move.from_uci(uci), color) == 64 * plane + source


@pytest.mark.parametrize("uci", ["a1b4", "a7a8k", "a7a8p", "a6a7q", "a2a1q", "0000", "N@e4", "a7c8q"])
def test_no_number_for_what_is_no_move(uci: str) -> None:
    with pytest.raises(ValueError, match=r"move: .* is no move of reconnaissance blind chess for white"):
        action_of(Move.from_uci(uci), chess.WHITE)


@pytest.mark.parametrize("action", [-1, MOVES, 10**9, 63, 64 * 14 + 7])
def test_no_move_for_what_is_no_number(action: int) -> None:
    with pytest.raises(ValueError, match=f"action: {action} stands for no move"):
        move_of(action, chess.WHITE, 0)


@pytest.mark.parametrize("color", chess.COLORS)
def test_senses_come_back(color: Color) -> None:
    for square in [*chess.SQUARES, None]:
        assert square_of(sense_of(square, color), color) == square
    assert sense_of(chess.A1, chess.BLACK) == chess.A8
    for wrong in (-1, SENSE_PASS + 1):
        with pytest.raises(ValueError, match=f"sense: {wrong}"):
            square_of(wrong, color)


def test_inner_senses_show_all_that_others_show() -> None:
    assert [chess.square_name(square) for square in INNER_SQUARES[[0, 5, 6, 35]]] == ["b2", "g2", "b3", "g7"]
    assert (INNER_BY_SQUARE[INNER_SQUARES] == np.arange(36)).all()
    for square in chess.SQUARES:
        center = int(INNER_SQUARES[INNER_BY_SQUARE[square]])
        window, inner = ({at for at in chess.SQUARES if chess.square_distance(at, of) <= 1} for of in (square, center))
        assert window <= inner
