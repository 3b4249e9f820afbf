"""Stockfish scores every move of a position, and its failures are reported."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import chess
import pytest

from gm_arena.bot import BotFailed
from gm_bots.expectation.engine import MATE, Stockfish, Stockfishes
from tests.bots.expectation.asked import stockfish
from tests.tools import require_tool

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"


def test_every_legal_move_has_a_score() -> None:
    with stockfish() as engine:
        scores = engine.scores(chess.STARTING_FEN, 3)
    assert scores.keys() == {move.uci() for move in chess.Board().legal_moves}
    assert all(abs(score) < 300 for score in scores.values())


def test_only_the_given_moves_are_searched() -> None:
    with stockfish() as engine:
        assert engine.scores(chess.STARTING_FEN, 3, ["e2e4", "a2a3"]).keys() == {"e2e4", "a2a3"}
        assert len(engine.scores(chess.STARTING_FEN, 3)) == 20


def test_mates_score_more_the_sooner_they_come() -> None:
    with stockfish() as engine:
        scores = engine.scores(MATE_IN_ONE, 4)
        assert scores["a1a8"] == MATE - 1
        assert engine.score(MATE_IN_ONE, 4) == MATE - 1
        assert engine.scores("7k/8/5KQ1/8/8/8/8/8 b - - 0 1", 4) == {}
        assert engine.score("k7/8/1K6/8/8/8/8/7R b - - 0 1", 6) == 1 - MATE


@pytest.mark.parametrize(
    ("fen", "score"),
    [("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", -MATE), ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 0)],
    ids=["mate", "stalemate"],
)
def test_position_without_a_legal_move_has_a_score_and_no_moves(fen: str, score: int) -> None:
    with stockfish() as engine:
        assert engine.scores(fen, 4) == {}
        assert engine.score(fen, 4) == score


def test_same_searches_after_a_new_game_give_the_same_scores() -> None:
    def searched(engine: Stockfishes) -> list[object]:
        engine.new_game()
        return [engine.scores(chess.STARTING_FEN, 4), engine.score(MATE_IN_ONE, 6), engine.scores(MATE_IN_ONE, 5)]

    with stockfish() as engine:
        assert searched(engine) == searched(engine)


def test_ended_process_is_a_failure() -> None:
    with stockfish() as engine:
        engine.close()
        with pytest.raises(BotFailed, match=r"^Stockfish has ended$"):
            engine.scores(chess.STARTING_FEN, 1)


def test_process_that_ends_in_a_search_or_between_games_is_replaced(tmp_path: Path) -> None:
    pid, program = tmp_path / "pid", tmp_path / "stockfish"
    program.write_text(f"#!/bin/sh\necho $$ > {pid}\nexec {require_tool('stockfish')}\n")
    program.chmod(0o700)
    engine = Stockfish(str(program))
    try:
        scores = engine.scores(MATE_IN_ONE, 4)
        first = int(pid.read_text())
        os.kill(first, signal.SIGKILL)
        assert engine.scores(MATE_IN_ONE, 4) == scores
        second = int(pid.read_text())
        assert second != first
        os.kill(second, signal.SIGKILL)
        engine.new_game()
        assert int(pid.read_text()) != second
    finally:
        engine.close()


def test_search_ends_in_time() -> None:
    with stockfish() as engine:
        assert engine.scores(chess.STARTING_FEN, 200, ["e2e4", "d2d4"], 0.05).keys() == {"e2e4", "d2d4"}


def test_program_that_cannot_be_started_is_a_failure() -> None:
    with pytest.raises(BotFailed, match=r"^Stockfish at '/nowhere' cannot be started: No such file or directory$"):
        Stockfish("/nowhere")
