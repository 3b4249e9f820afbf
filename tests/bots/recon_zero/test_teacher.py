"""Stockfish as a teacher: its lessons, and trainings that learn from it."""

from __future__ import annotations

import random
from pathlib import Path

import chess
import numpy as np
import pytest

pytest.importorskip("numba", reason="needs numba: pip install 'grandmasterd[env]'")
pytest.importorskip("torch", reason="needs PyTorch: pip install 'grandmasterd[train]'")

from gm_bots.recon_zero.actions import move_of
from gm_bots.recon_zero.belief import certain
from gm_bots.recon_zero.encoder import encode
from gm_bots.recon_zero.replay import Sample
from gm_bots.recon_zero.teacher import Teacher, shown
from tests.bots.recon_zero.test_league_training import begin, log, one_thread, same_weights, train
from tests.tools import require_tool

pytestmark = pytest.mark.slow

__all__ = ["one_thread"]

TEACHER = ("--teacher", 1, "--followed", 1)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", str(require_tool("stockfish")))


def sample_of(board: chess.Board, outcome: float = 1.0) -> Sample:
    return Sample(encode(board, board.turn, certain(board, board.turn)), {0: 1}, outcome, 0.25)


@pytest.mark.parametrize("seed", range(40))
def test_position_of_planes_is_the_one_that_was_encoded(seed: int) -> None:
    rng, board = random.Random(seed), chess.Board()
    for _ in range(rng.randrange(80)):
        if board.is_game_over():
            break
        board.push(rng.choice(list(board.legal_moves)))
    seen = board if board.turn else board.mirror()
    found = shown(sample_of(board).planes)
    assert found.piece_map() == seen.piece_map()
    assert (found.turn, found.fullmove_number) == (chess.WHITE, board.fullmove_number)
    assert found.castling_rights & seen.castling_rights == seen.castling_rights
    assert found.status() & chess.STATUS_BAD_CASTLING_RIGHTS == 0


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("mirrored", [False, True])
def test_lesson_prefers_the_engines_best_move(mirrored: bool) -> None:
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")  # the pawn captures the queen
    board = board.mirror() if mirrored else board
    with Teacher(4, 0, "seed") as teacher:
        (lesson,) = teacher.lessons(sample_of(board))
    best = move_of(max(lesson.visits, key=lesson.visits.__getitem__), chess.WHITE)
    assert best == chess.Move.from_uci("e4d5")
    assert lesson.searched > 0
    assert lesson.outcome == 1.0
    assert np.array_equal(lesson.planes, sample_of(board).planes)


@pytest.mark.usefixtures("engine")
def test_following_positions_are_the_opponents_then_the_players() -> None:
    with Teacher(2, 3, "seed") as teacher:
        lessons = list(teacher.lessons(sample_of(chess.Board())))
    assert [lesson.outcome for lesson in lessons] == [1.0, -1.0, 1.0, -1.0]
    assert [round(float(lesson.planes[-1, 0, 0]) * 100) for lesson in lessons] == [1, 1, 2, 2]
    assert len({lesson.planes[:-1].tobytes() for lesson in lessons}) == 4


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1",  # the king can be captured
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",  # stalemate
        "8/8/8/8/8/8/4Q3/4K3 w - - 0 1",
    ],
)
def test_there_is_no_lesson_where_the_engine_has_no_answer(fen: str) -> None:
    with Teacher(2, 3, "seed") as teacher:
        assert list(teacher.lessons(sample_of(chess.Board(fen)))) == []


@pytest.mark.nightly
@pytest.mark.usefixtures("engine")
def test_interrupted_training_with_a_teacher_ends_with_the_same_result(tmp_path: Path) -> None:
    unbroken = begin(tmp_path / "unbroken", 2, *TEACHER)
    broken = begin(tmp_path / "broken", 1, *TEACHER)
    resumed = train("--resume", broken, "--iterations", 2)
    assert resumed.exit_code == 0, resumed.output
    assert log(broken) == log(unbroken)
    assert same_weights(broken, unbroken)
    own = begin(tmp_path / "own", 1)
    assert log(own)[0]["samples"] < log(broken)[0]["samples"] <= 2 * log(own)[0]["samples"]
    both = begin(tmp_path / "both", 1, *TEACHER, "--own-searches")
    assert log(both)[0]["samples"] == log(own)[0]["samples"] + log(broken)[0]["samples"]


def test_teacher_that_is_not_installed_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere")
    refused = train("--out", tmp_path / "new", "--teacher", 1, "--games", 1, "--simulations", 1)
    assert refused.exit_code == 1
    assert "--teacher asks Stockfish, which was not found: install it" in " ".join(refused.output.split())


def test_own_searches_without_a_teacher_are_refused(tmp_path: Path) -> None:
    refused = train("--out", tmp_path / "new", "--own-searches")
    assert refused.exit_code == 2
    assert "--own-searches: without a teacher nothing else is learnt" in " ".join(refused.output.split())
