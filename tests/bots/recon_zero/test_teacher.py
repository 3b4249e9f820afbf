"""Stockfish as a teacher: its lessons, and trainings that learn from it."""

from __future__ import annotations

import random
from pathlib import Path

import chess
import numpy as np
import pytest

pytest.importorskip("numba", reason="needs numba: .venv/bin/pip install -e '.[env]'")
pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install -e '.[train]'")

from gm_bots.recon_zero.replay import Sample
from gm_bots.recon_zero.teacher import FOLLOWED, Teacher, Teaching, shown
from tests.bots.recon_zero.learning import needs_training
from tests.bots.recon_zero.plain_encoding import encode, move_of
from tests.bots.recon_zero.test_pipeline import train
from tests.tools import require_tool

pytestmark = pytest.mark.slow


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", str(require_tool("stockfish")))


def sample_of(board: chess.Board) -> Sample:
    return Sample(encode(board), {0: 1}, 0.25)


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
    with Teacher(4, "seed") as teacher:
        lesson = next(teacher.lessons(sample_of(board)))
    best = move_of(max(lesson.visits, key=lesson.visits.__getitem__))
    assert best == chess.Move.from_uci("e4d5")
    assert lesson.searched > 0
    assert np.array_equal(lesson.planes, sample_of(board).planes)


@pytest.mark.usefixtures("engine")
def test_following_positions_are_the_opponents_then_the_players() -> None:
    with Teacher(2, "seed") as teacher:
        lessons = list(teacher.lessons(sample_of(chess.Board())))
    assert [round(float(lesson.planes[-1, 0, 0]) * 100) for lesson in lessons[:4]] == [1, 1, 2, 2]
    assert len({lesson.planes[:-1].tobytes() for lesson in lessons}) == len(lessons) == 1 + FOLLOWED


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
    with Teacher(2, "seed") as teacher:
        assert list(teacher.lessons(sample_of(chess.Board(fen)))) == []


@pytest.mark.usefixtures("engine")
def test_decisions_are_learnt_besides_the_lessons_of_each_which_a_seed_repeats() -> None:
    decision = sample_of(chess.Board())
    first, second = (Teaching(1, "seed").lessons([[decision] * 2, []]) for _ in range(2))
    assert [len(game) for game in first] == [2 * (2 + FOLLOWED), 0]
    assert first[0][0] is first[0][2 + FOLLOWED] is decision
    assert [each.planes.tobytes() for each in first[0]] == [each.planes.tobytes() for each in second[0]]


@needs_training
def test_teacher_that_is_not_installed_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere")
    refused = train(tmp_path / "new", 1, teacher=1)
    assert refused.exit_code == 1
    said = " ".join(refused.output.split())
    assert "--teacher asks Stockfish, which was not found: install it" in said
    assert "or give --teacher 0" in said
