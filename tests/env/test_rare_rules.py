"""Constructed positions for the rare rules, each played by White, and mirrored by Black."""

from __future__ import annotations

from typing import NamedTuple

import chess
import numpy as np
import pytest
from chess import Color, Move, Square

from gm_env import OVER, PASS, SENSE_PASS, BatchedRbc, action_of, move_of
from gm_recon import WinReason


class Played(NamedTuple):
    """A turn's result."""

    taken: str | None
    capture: str | None
    reason: WinReason | None
    winner: str | None
    #: The placement, turn, rights and en passant square after it.
    fen: str


@pytest.fixture(params=["White", "Black"])
def color(request: pytest.FixtureRequest) -> Color:
    """Return the side that moves; all expectations are White's, and mirrored for Black."""
    return bool(request.param == "White")


def mirrored(move: Move) -> Move:
    return Move(move.from_square ^ 56, move.to_square ^ 56, move.promotion)


def started(fen: str, color: Color, reversible_moves: int | None = 100, max_turns: int | None = None) -> BatchedRbc:
    board = chess.Board(fen)
    if not color:
        board = board.mirror()
    text = board.fen(en_passant="fen")
    return BatchedRbc(1, fens=text, reversible_moves=reversible_moves, max_turns=max_turns, autoreset=False)


def number(uci: str, color: Color) -> int:
    move = Move.from_uci(uci)
    return action_of(move if color else mirrored(move), color)


def is_listed(batch: BatchedRbc, uci: str, color: Color) -> bool:
    return bool(batch.masks()[0, number(uci, color)])


def play(batch: BatchedRbc, uci: str | None, color: Color) -> Played:
    """Request a move; return its result as White would have it."""
    assert bool(batch.colors[0]) == color
    pawns = int(batch.board(0).pieces(chess.PAWN, color))
    batch.sense(np.array([SENSE_PASS]))
    batch.move(np.array([PASS if uci is None else number(uci, color)]))
    taken = move_of(int(batch.results[0, 1]), color, pawns)
    capture = int(batch.results[0, 2])  # as the player sees the board, which White does
    board = batch.board(0) if color else batch.board(0).mirror()
    winner = {-1: None, int(color): "mover", int(not color): "other"}[int(batch.winners[0])]
    shown = None if taken is None else (taken if color else mirrored(taken)).uci()
    reason = WinReason(int(batch.reasons[0])) if batch.reasons[0] else None
    square = None if capture < 0 else chess.square_name(capture)
    return Played(shown, square, reason, winner, board.fen(en_passant="fen").rsplit(" ", 2)[0])


CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 10"


@pytest.mark.parametrize(
    ("uci", "after"),
    [("e1g1", "r3k2r/8/8/8/8/8/8/R4RK1 b kq -"), ("e1c1", "r3k2r/8/8/8/8/8/8/2KR3R b kq -")],
)
def test_castling(color: Color, uci: str, after: str) -> None:
    assert play(started(CASTLING, color), uci, color) == (uci, None, None, None, after)


@pytest.mark.parametrize(
    ("uci", "hidden"), [("e1g1", "f1"), ("e1g1", "g1"), ("e1c1", "b1"), ("e1c1", "c1"), ("e1c1", "d1")]
)
@pytest.mark.parametrize("piece", [chess.KNIGHT, chess.QUEEN])
def test_castling_is_refused_by_a_hidden_piece_between(color: Color, uci: str, hidden: str, piece: int) -> None:
    board = chess.Board(CASTLING)
    board.set_piece_at(chess.parse_square(hidden), chess.Piece(piece, chess.BLACK))
    batch = started(board.fen(), color)
    assert is_listed(batch, uci, color)
    result = play(batch, uci, color)
    assert (result.taken, result.capture) == (None, None)
    assert result.fen.split()[2] == "KQkq"  # the rights stay
    assert batch.board(0).halfmove_clock == 4


@pytest.mark.parametrize(("uci", "own"), [("e1g1", "f1"), ("e1g1", "g1"), ("e1c1", "b1"), ("e1c1", "d1")])
def test_castling_is_not_listed_with_an_own_piece_between(color: Color, uci: str, own: str) -> None:
    board = chess.Board(CASTLING)
    board.set_piece_at(chess.parse_square(own), chess.Piece(chess.BISHOP, chess.WHITE))
    assert not is_listed(started(board.fen(), color), uci, color)


@pytest.mark.parametrize("attacker", ["e8", "f8", "g8"])
def test_castling_out_of_through_and_into_check(color: Color, attacker: str) -> None:
    board = chess.Board("7k/8/8/8/8/8/8/4K2R w K - 0 1")
    board.set_piece_at(chess.parse_square(attacker), chess.Piece(chess.ROOK, chess.BLACK))
    assert play(started(board.fen(), color), "e1g1", color).taken == "e1g1"


@pytest.mark.parametrize(
    ("uci", "rights"),
    [
        ("e1e2", "kq"),
        ("h1h2", "Qkq"),
        ("a1a2", "Kkq"),
        ("h1h8", "Qq"),  # takes the rook of the other side, and its right
        ("a1a8", "Kk"),
        ("e1g1", "kq"),
    ],
)
def test_castling_rights_are_lost(color: Color, uci: str, rights: str) -> None:
    assert play(started(CASTLING, color), uci, color).fen.split()[2] == rights


@pytest.mark.parametrize("rights", ["K", "Q", "-"])
def test_castling_needs_its_right(color: Color, rights: str) -> None:
    batch = started(f"4k3/8/8/8/8/8/8/R3K2R w {rights} - 0 1", color)
    assert is_listed(batch, "e1g1", color) == (rights == "K")
    assert is_listed(batch, "e1c1", color) == (rights == "Q")


def test_en_passant(color: Color) -> None:
    fen = "4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 1"
    for uci in ("c5d6", "e5d6"):
        result = play(started(fen, color), uci, color)
        assert (result.taken, result.capture) == (uci, "d5")
        assert "p" not in result.fen.split()[0]


def test_en_passant_lasts_one_turn(color: Color) -> None:
    batch = started("4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 1", color)
    assert play(batch, None, color).taken is None
    batch.sense(np.array([SENSE_PASS]))
    batch.move(np.array([PASS]))
    assert play(batch, "e5d6", color)[:2] == (None, None)


def test_double_step_leaves_its_en_passant_square(color: Color) -> None:
    assert play(started("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", color), "e2e4", color).fen.endswith("b - e3")


@pytest.mark.parametrize(
    ("hidden", "taken"), [("e3", None), ("e4", "e2e3"), ("e5", "e2e4")], ids=["first", "second", "behind"]
)
def test_double_step_against_a_hidden_piece(color: Color, hidden: str, taken: str | None) -> None:
    board = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 5 9")
    board.set_piece_at(chess.parse_square(hidden), chess.Piece(chess.ROOK, chess.BLACK))
    batch = started(board.fen(), color)
    result = play(batch, "e2e4", color)
    assert (result.taken, result.capture) == (taken, None)
    assert batch.board(0).halfmove_clock == (6 if taken is None else 0)
    assert result.fen.endswith("b - e3") == (taken == "e2e4")


@pytest.mark.parametrize("uci", ["e4d5", "e4f5"])
def test_pawn_capture_without_a_piece_there_is_void(color: Color, uci: str) -> None:
    batch = started("4k3/8/8/8/4P3/8/8/4K3 w - - 5 9", color)
    assert is_listed(batch, uci, color)
    assert play(batch, uci, color)[:2] == (None, None)


@pytest.mark.parametrize("piece", "qrbn")
@pytest.mark.parametrize(("target", "capture"), [("b8", None), ("a8", "a8"), ("c8", "c8")])
def test_promotions(color: Color, piece: str, target: str, capture: str | None) -> None:
    result = play(started("r1r4k/1P6/8/8/8/8/8/4K3 w - - 0 1", color), f"b7{target}{piece}", color)
    assert (result.taken, result.capture) == (f"b7{target}{piece}", capture)
    placed = chess.Board(f"{result.fen} 0 1").piece_at(chess.parse_square(target))
    assert placed == chess.Piece.from_symbol(piece.upper())


@pytest.mark.parametrize("piece", "qrbn")
def test_promotion_is_refused(color: Color, piece: str) -> None:
    fen = "1r5k/1P6/8/8/8/8/8/4K3 w - - 0 1"
    for target in ("b8", "a8", "c8"):  # blocked, and nothing to capture
        assert play(started(fen, color), f"b7{target}{piece}", color)[:2] == (None, None)


@pytest.mark.parametrize(
    ("fen", "uci", "taken", "capture"),
    [
        ("4k3/8/p7/8/8/8/8/R3K3 w - - 0 1", "a1a8", "a1a6", "a6"),
        ("4k3/8/8/7p/8/8/8/3QK3 w - - 0 1", "d1h5", "d1h5", "h5"),
        ("4k3/8/8/8/6p1/8/8/3QK3 w - - 0 1", "d1h5", "d1g4", "g4"),
        ("4k3/8/8/8/8/8/1p6/B3K3 w - - 0 1", "a1h8", "a1b2", "b2"),
        ("4k3/8/8/8/8/2p5/8/1N2K3 w - - 0 1", "b1c3", "b1c3", "c3"),
        ("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1", "e1e2", "e1e2", "e2"),
    ],
)
def test_captures_and_moves_cut_short(color: Color, fen: str, uci: str, taken: str, capture: str) -> None:
    assert play(started(fen, color), uci, color)[:2] == (taken, capture)


@pytest.mark.parametrize(
    ("fen", "uci", "square"),
    [
        ("8/8/8/8/8/3k4/2P5/K7 w - - 0 1", "c2d3", "d3"),
        ("8/8/8/8/8/2k5/8/KN6 w - - 0 1", "b1c3", "c3"),
        ("8/8/8/8/5k2/8/8/K1B5 w - - 0 1", "c1h6", "f4"),
        ("8/8/8/8/8/8/8/KR4k1 w - - 0 1", "b1h1", "g1"),
        ("7k/8/8/8/8/8/1Q6/K7 w - - 0 1", "b2h8", "h8"),
        ("8/8/8/8/8/8/1k6/K7 w - - 0 1", "a1b2", "b2"),
        ("1k6/P7/8/8/8/8/8/K7 w - - 0 1", "a7b8n", "b8"),
    ],
    ids=["pawn", "knight", "bishop", "rook", "queen", "king", "promotion"],
)
def test_king_capture_ends_the_game(color: Color, fen: str, uci: str, square: str) -> None:
    batch = started(fen, color, reversible_moves=1, max_turns=1)  # neither limit counts beside it
    result = play(batch, uci, color)
    assert (result.capture, result.reason, result.winner) == (square, WinReason.KING_CAPTURE, "mover")
    rewards = batch.rewards[0]
    assert (rewards[int(color)], rewards[int(not color)], bool(batch.ended[0])) == (1, -1, True)
    assert batch.phases[0] == OVER
    assert not batch.legal.any()


def test_fifty_moves_draw(color: Color) -> None:
    batch = started("4k3/8/8/8/8/8/8/R3K3 w - - 99 80", color)
    assert play(batch, "a1a2", color)[2:4] == (WinReason.MOVE_LIMIT, None)
    assert batch.rewards[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("fen", "uci"),
    [
        ("4k3/8/8/8/8/8/r7/R3K3 w - - 99 80", "a1a2"),
        ("4k3/8/8/8/8/8/P7/4K3 w - - 99 80", "a2a3"),
    ],
    ids=["capture", "pawn"],
)
def test_capture_or_pawn_move_begins_the_count_again(color: Color, fen: str, uci: str) -> None:
    batch = started(fen, color)
    assert play(batch, uci, color).reason is None
    assert batch.board(0).halfmove_clock == 0


@pytest.mark.parametrize("uci", [None, "a2b3"], ids=["pass", "void capture"])
def test_turn_without_a_move_counts_as_reversible(color: Color, uci: str | None) -> None:
    batch = started("4k3/8/8/8/8/8/P7/4K3 w - - 99 80", color)
    assert play(batch, uci, color).reason == WinReason.MOVE_LIMIT


def test_turn_limit_draws_after_blacks_turn() -> None:
    batch = started(chess.STARTING_FEN, chess.WHITE, max_turns=1)
    assert play(batch, None, chess.WHITE).reason is None
    assert play(batch, None, chess.BLACK).reason == WinReason.TURN_LIMIT


def test_turn_limit_goes_before_the_limit_of_reversible_moves() -> None:
    batch = started("4k3/8/8/8/8/8/8/4K3 b - - 99 80", chess.WHITE, max_turns=80)
    assert play(batch, None, chess.BLACK).reason == WinReason.TURN_LIMIT


def test_start_that_is_over_is_refused() -> None:
    with pytest.raises(ValueError, match=r"fens: '.* 100 80' has reached reversible_moves"):
        BatchedRbc(1, fens="4k3/8/8/8/8/8/8/4K3 w - - 100 80")
    with pytest.raises(ValueError, match="max_turns"):
        BatchedRbc(1, fens="4k3/8/8/8/8/8/8/4K3 w - - 0 80", max_turns=79)


def test_squares_are_the_players_own(color: Color) -> None:
    """A number means the same to both: the square of White's e2 is Black's e7."""
    squares: list[Square] = [chess.E2, chess.E7]
    batch = started("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", color)
    assert batch.masks()[0, chess.E2] == 1  # plane 0, from the second rank
    assert action_of(Move(squares[not color], squares[not color] + (8 if color else -8)), color) == chess.E2
