"""The search takes kings, keeps its own, and evaluates the positions that it reaches."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
import pytest
from chess import Board, Move

from gm_bots.recon_zero.lockstep.candidates import Examined
from gm_bots.recon_zero.lockstep.forest import Forest
from gm_bots.recon_zero.search import Search
from gm_env.positions import written
from gm_recon import ReconBoard
from tests.bots.recon_zero.judges import judge_by
from tests.bots.recon_zero.plain_evaluation import Evaluator, Judgement, plain_material

pytestmark = pytest.mark.slow


def searched(*fens: str, simulations: int = 60, evaluator: Evaluator | None = None, unseen: float = 0) -> Search:
    boards = [ReconBoard.of(Board(fen)) for fen in fens]
    moves = [None, *boards[0].move_actions()]
    rows = [written(board) for board in boards]
    states, numbers = (np.array(part) for part in zip(*rows, strict=True))
    positions = Examined.of(states, numbers, np.ones(len(boards)))
    search = Search(Forest(judge_by(evaluator or blank)), positions, moves, boards[0].turn, unseen)
    search.deepen(simulations)
    return search


def blank(positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]:
    """Judge nothing: with this evaluator all that is found comes from the rules alone."""
    return [([1 / len(moves)] * len(moves), 0.0) for _, moves in positions]


@pytest.mark.parametrize("simulations", [1, 40])
@pytest.mark.parametrize(
    ("fen", "taking"),
    [
        ("4k3/8/8/8/8/8/8/4R2K w - - 0 1", {"e1e8"}),
        ("8/8/8/3k4/4P3/8/8/7K w - - 0 1", {"e4d5"}),
        ("4k3/3P4/8/8/8/8/8/7K w - - 0 1", {"d7e8q", "d7e8r", "d7e8b", "d7e8n"}),
        ("8/8/8/8/8/5n2/8/k5K1 b - - 0 1", {"f3g1"}),
    ],
)
def test_king_is_taken_when_it_can_be(fen: str, taking: set[str], simulations: int) -> None:
    found = searched(fen, simulations=simulations).found()
    assert str(found.best()) in taking
    assert found.value == 1
    assert {str(move) for move, visits in found.visits.items() if visits} <= taking


@pytest.mark.parametrize(
    "fen",
    [
        "4r2k/8/8/8/8/8/8/R3K3 w - - 0 1",
        "7k/8/7b/8/8/8/3K4/8 w - - 0 1",
        "6k1/8/8/8/8/5n2/6P1/6KR w - - 0 1",
        "4k2R/8/8/8/8/8/8/4K2Q b - - 0 1",
    ],
)
def test_king_is_not_left_in_a_visible_attack(fen: str) -> None:
    board = Board(fen)
    assert board.is_check()
    found = searched(fen, simulations=200).found()
    assert found.best() in board.legal_moves
    assert found.visits[None] <= 1
    assert all(found.values[move] > -1 for move in board.legal_moves), "a move that leaves the king safe is not lost"


def test_no_simulation_is_wasted_on_a_move_that_comes_to_nothing() -> None:
    """A pawn's capture of an empty square is a pass; in one position of two a piece stands on d3."""
    fens = [chess.STARTING_FEN, "rnbqkb1r/pppppppp/8/8/8/3n4/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]
    found = searched(*fens, simulations=120).found()
    asked_for = {move.uci() for move in found.visits if move is not None and found.visits[move]}
    pawns = {uci for uci in asked_for if uci[0] != uci[2] and uci[1] == "2" and uci[3] == "3"} - {"b1a3"}
    assert pawns == {"c2d3", "e2d3"}
    assert len(asked_for) == 20 + 2
    assert Move.from_uci("a2b3") in found.visits


@pytest.mark.parametrize("fen", ["6k1/8/8/8/8/8/5PPP/r5K1 w - - 0 1", "7k/8/8/8/8/6q1/8/5r1K w - - 0 1"])
def test_mated_side_has_lost_whatever_it_does(fen: str) -> None:
    assert Board(fen).is_checkmate()
    assert searched(fen, simulations=60).found().value == -1


def test_move_that_loses_the_king_is_visited_once() -> None:
    found = searched("4r2k/8/8/8/8/8/8/R3K3 w - - 0 1", simulations=200).found()
    assert found.visits[None] == found.visits[Move.from_uci("a1a2")] == 1
    assert found.values[None] == -1


def test_possible_positions_are_added_up() -> None:
    """The queen gives itself up in one position of two, and takes a king in the other."""
    king_here, king_there = "3k4/8/8/8/8/8/8/3Q3K w - - 0 1", "2k5/8/8/8/8/8/8/3Q3K w - - 0 1"
    found = searched(king_here, king_there, simulations=50).found()
    assert found.best() == Move.from_uci("d1d8")
    assert sum(found.visits.values()) == 100
    assert found.visits[Move.from_uci("d1d8")] >= 50


def test_move_is_valued_over_all_positions() -> None:
    """The queen takes a king on d8 in one position of six, and is lost there in the others."""
    others = [f"{kings}/8/8/8/8/8/8/3Q3K w - - 0 1" for kings in ("1k1r4", "1k2r3", "k3r3", "1k3r2", "k4r2")]
    fens = ["3k4/8/8/8/8/8/8/3Q3K w - - 0 1", *others]
    taking = Move.from_uci("d1d8")
    found = searched(*fens, simulations=150, evaluator=plain_material).found()
    assert found.values[taking] < found.value
    assert found.best() != taking, "though one in six is for it"
    assert all(visits % 6 == 0 for visits in found.visits.values()), "one move in all of them"


def test_attack_that_may_be_unseen_has_a_value() -> None:
    """A rook attacks a king on an open board: this is worth nothing if all attacks are seen, and half a game if half
    are.
    """
    fen, attack = "4k3/8/8/8/8/8/8/R6K w - - 0 1", Move.from_uci("a1a8")
    values = [searched(fen, simulations=400, unseen=unseen).found().values for unseen in (0.0, 0.5)]
    assert values[0][attack] < 0.1
    assert values[1][attack] > 0.5
    quiet = [move for move in values[1] if move is not None and not Board(fen).gives_check(move)]
    assert max(values[1][move] for move in quiet) < 0.5


def test_attack_by_a_capture_is_seen() -> None:
    """The bishop takes a pawn beside the king and is taken: three pawns are lost, however little is seen."""
    fen, attack = "4k3/3p4/8/8/8/7B/8/6K1 w - - 0 1", Move.from_uci("h3d7")
    seen, unseen = (searched(fen, simulations=400, unseen=unseen).found() for unseen in (0.0, 0.5))
    assert abs(unseen.values[attack] - seen.values[attack]) < 0.1
    assert unseen.best() != attack


def test_attack_is_a_check_where_it_is_unseen() -> None:
    """A rook attacks a king from afar; as it captures, that betrays it."""
    quiet, capture = "k7/8/8/8/8/8/8/1R2K3 w - - 0 1", "k7/8/n7/8/8/8/R7/4K3 w - - 0 1"
    for fen, move, checks in ((quiet, "b1a1", True), (quiet, "b1b2", False), (capture, "a2a6", False)):
        assert searched(fen, simulations=300).checks(chess.Move.from_uci(move)) == checks


def test_own_king_is_not_left_where_it_may_be_attacked_unseen() -> None:
    """Black's rook can attack from a8, unless White's king goes behind its pawn: there the rook can only take that
    pawn.
    """
    fen, behind = "1r5k/8/8/8/8/8/1PP5/K7 w - - 0 1", Move.from_uci("a1b1")
    for unseen in (0.0, 0.5):
        found = searched(fen, simulations=5000, unseen=unseen).found()
        others = max(value for move, value in found.values.items() if move != behind)
        assert (found.values[behind] - others > 0.05) == (unseen > 0)
        assert found.best() == behind


def test_search_evaluates_the_positions_that_it_reaches() -> None:
    """Two moves deep: the rook that can be taken is defended, which the material after one move does not show."""
    seen: set[str] = set()

    def watching(positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]:
        seen.update(board.fen() for board, _ in positions)
        return plain_material(positions)

    search = searched("6k1/8/4p3/3r4/8/8/8/3Q3K w - - 0 1", simulations=300, evaluator=watching)
    assert len(seen) > 200, "not every look is at a position of its own: a game that is over is judged by the rules"
    assert max(int(fen.split()[-1]) for fen in seen) >= 3, "some are moves ahead"
    assert search.found().best() != Move.from_uci("d1d5")
    assert searched("6k1/8/8/3r4/8/8/8/3Q3K w - - 0 1", evaluator=plain_material).found().best() == Move.from_uci(
        "d1d5"
    )


def test_every_simulation_is_counted() -> None:
    search = searched(chess.STARTING_FEN, simulations=37)
    assert sum(search.found().visits.values()) == 37
    search.deepen(3)
    assert sum(search.found().visits.values()) == 40
    assert all(-1 <= value <= 1 for value in search.found().values.values())
