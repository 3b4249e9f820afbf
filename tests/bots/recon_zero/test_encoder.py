"""The network's input."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from chess import Board

from gm_bots.recon_zero.belief import certain
from gm_bots.recon_zero.encoder import encode


def test_start_position_is_encoded_as_planes() -> None:
    board = Board()
    planes = encode(board, chess.WHITE, certain(board, chess.WHITE))
    assert planes.shape == (15, 8, 8)
    assert planes.dtype == np.float32
    assert planes[0, 1].tolist() == [1] * 8
    assert planes[:6].sum() == planes[6:12].sum() == 16
    assert planes[5, 0, 4] == planes[11, 7, 4] == 1  # the kings
    assert planes[12].sum() == 48
    assert (planes[13] == 1).all()
    assert planes[14, 3, 3] == pytest.approx(2 / 200)


def test_black_sees_what_white_would_see_in_the_mirrored_position() -> None:
    board = Board("r1bqkb1r/ppp2ppp/2n2n2/3pp3/4P3/2NP1N2/PPP2PPP/R1BQKB1R w KQkq - 0 5")
    other = board.mirror()
    shown = encode(board, chess.WHITE, certain(board, chess.WHITE))
    assert np.array_equal(shown, encode(other, chess.BLACK, certain(other, chess.BLACK)))


def test_progress_planes_are_capped_in_a_late_game() -> None:
    board = Board("4k3/8/8/8/8/8/8/4K3 b - - 0 300")
    planes = encode(board, chess.WHITE, certain(board, chess.WHITE))
    assert (planes[13] == 0).all()
    assert (planes[14] == 1).all()
