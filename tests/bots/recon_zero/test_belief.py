"""The belief sums to 1 on every square, and never excludes the truth."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from chess import Board, Move

from gm_bots.recon_zero import belief as beliefs
from gm_bots.recon_zero.belief import EMPTY, at, certain
from gm_bots.recon_zero.knowledge import Knowledge
from gm_bots.recon_zero.opponent_turn import opponent_moved
from gm_bots.recon_zero.positions import belief_of, channels_of
from gm_client.rbc import simulate_sense
from gm_recon import ReconGame
from tests.bots.recon_zero.games import knowing
from tests.proofs import cases

pytestmark = pytest.mark.slow

#: Half-moves; random players seldom need more until a king is captured.
LONG = 400


def check(belief: beliefs.Belief, game: ReconGame, color: chess.Color) -> None:
    assert belief.shape == (7, 8, 8)
    assert np.abs(belief.sum(axis=0) - 1).max() < 1e-9
    truth = certain(game.board.as_chess(), color)
    assert (belief[truth == 1] > 0).all()


@pytest.mark.parametrize("positions", [True, False], ids=["positions", "squares"])
def test_belief_never_excludes_the_truth(positions: bool) -> None:
    """The cap is small enough to drop the true position at times: the belief still holds it possible."""
    for seed in range(cases(1 if positions else 2)):
        for knowledge, game in knowing(seed, LONG, positions=positions, cap=100):
            check(knowledge.belief(), game, knowledge.color)
            assert knowledge.own.fullmove_number == game.board.fullmoves
            assert knowledge.own.occupied == game.board.occupied_by(knowledge.color)
            assert knowledge.remaining == chess.popcount(game.board.occupied_by(not knowledge.color))


def test_all_positions_are_within_what_squares_allow() -> None:
    """The two kinds of knowledge agree: no possible position contains what the squares exclude."""
    for seed in range(2):
        both = zip(knowing(seed, 12, cap=5_000), knowing(seed, 12, positions=False), strict=True)
        for (knowledge, _), (squares, _) in both:
            if not knowledge.complete:
                break
            assert (belief_of(knowledge.channels())[squares.belief() == 0] == 0).all()


def test_belief_from_positions_counts_them() -> None:
    boards = [Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")] * 3 + [Board("3k4/8/8/8/8/8/8/4K3 w - - 0 1")]
    channels = channels_of(boards, chess.WHITE)
    belief = belief_of(channels)
    assert at(belief, chess.E8)[chess.KING - 1] == pytest.approx(0.75)
    assert at(belief, chess.D8)[[chess.KING - 1, EMPTY]] == pytest.approx([0.25, 0.75])
    assert at(belief, chess.E1)[EMPTY] == 1  # its own king is no piece of the opponent's
    weighted = belief_of(channels, np.array([0.0, 0, 1, 3]))
    assert at(weighted, chess.D8)[chess.KING - 1] == pytest.approx(0.75)


def own(fen: str) -> Board:
    board = Board(fen)
    for square in chess.scan_forward(board.occupied_co[chess.BLACK]):
        board.remove_piece_at(square)
    return board


def after_turn(fen: str, capture: chess.Square | None = None) -> beliefs.Belief:
    """Return White's belief after a turn of Black's, whose position before it was that of the FEN."""
    belief = certain(Board(fen), chess.WHITE)
    opponent_moved(belief, own(fen), chess.WHITE, capture)
    return belief


def types(belief: beliefs.Belief, square: str) -> set[str]:
    """Return the types that may stand on a square."""
    return {"pnbrqk-"[channel] for channel in np.flatnonzero(at(belief, chess.parse_square(square)))}


def test_opponent_may_have_made_any_move_in_its_turn() -> None:
    belief = after_turn("4k2r/3p4/8/8/8/8/8/4K3 b k - 0 1")
    assert types(belief, "d5") == types(belief, "d6") == types(belief, "d7") == {"p", "-"}
    assert types(belief, "f8") == types(belief, "g8") == {"r", "k", "-"}  # Black may have castled
    assert types(belief, "c8") == types(belief, "e4") == {"-"}


def test_capturer_may_be_any_piece_that_could_capture() -> None:
    belief = after_turn("4k3/2p5/3P4/8/8/8/8/3r3K b - - 0 1", chess.D6)
    assert types(belief, "d6") == {"p", "r"}
    assert types(belief, "c7") == {"p", "-"}


def test_en_passant_capturer_stands_behind_the_captured_pawn() -> None:
    belief = after_turn("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", chess.E4)
    assert types(belief, "e3") == {"p", "-"}


def test_promoted_pawn_may_be_any_piece() -> None:
    assert types(after_turn("4k3/8/8/8/8/8/p7/1N2K3 b - - 0 1"), "a1") == set("nbrq-")
    assert types(after_turn("4k3/8/8/8/8/8/p7/1N2K3 b - - 0 1", chess.B1), "b1") == set("nbrq")


@pytest.mark.parametrize(
    ("requested", "taken", "held", "free"),
    [
        ("e2e4", "e2e3", ["e4"], ["e3"]),
        ("e2e4", None, ["e3"], []),
        ("e2e3", None, ["e3"], []),
        ("e2d3", None, [], ["d3"]),
        ("a1a8", "a1a4", [], ["a2", "a3", "a4"]),
        ("e1c1", "e1c1", [], ["b1", "c1", "d1"]),
    ],
)
def test_result_of_a_move_updates_the_belief(
    requested: str, taken: str | None, held: list[str], free: list[str]
) -> None:
    board = Board("4k3/8/8/8/8/8/4P3/R3K3 w Q - 0 1")
    belief = np.full((7, 8, 8), 1 / 7)
    beliefs.player_moved(belief, board, Move.from_uci(requested), Move.from_uci(taken) if taken else None, None)
    for square in chess.SQUARE_NAMES:
        is_empty = at(belief, chess.parse_square(square))[EMPTY]
        assert is_empty == (0 if square in held else 1 if square in free else pytest.approx(1 / 7)), square
    assert np.abs(belief.sum(axis=0) - 1).max() < 1e-9


def test_sense_leaves_no_doubt_about_its_squares() -> None:
    board, knowledge = Board(), Knowledge(chess.WHITE, positions=False)
    knowledge.player_moved(Move.from_uci("e2e4"), Move.from_uci("e2e4"), None)
    board.push_san("e4")
    board.push_san("Nf6")
    knowledge.opponent_moved(None)
    assert types(knowledge.belief(), "f6") == {"n", "p", "-"}
    knowledge.saw(simulate_sense(board, chess.F6))
    assert [types(knowledge.belief(), square) for square in ("f6", "g7", "g5")] == [{"n"}, {"p"}, {"-"}]
