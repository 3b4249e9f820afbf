"""The engine in ``gmd match``: a depth against another bot, and the scores of every move."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest

from gm_bots.minimax.evaluation import evaluate
from tests.arena.matches import played

ONE, RANDOM = "minimax:depth=1", "random:seed=1"


@pytest.mark.slow
def test_every_move_has_its_score(tmp_path: Path) -> None:
    moves = tmp_path / "moves.csv"
    records, summary = played(
        *(tmp_path / "match.jsonl", ONE, RANDOM, "--games", 2, "--concurrency", 0, "--csv-out", moves),
    )
    assert summary["meetings"][0]["wins"] == 2, summary
    rows = list(csv.DictReader(moves.read_text().splitlines()))
    assert len(rows) == sum(len(record["moves"]) for record in records)
    for row in rows:
        assert bool(row["score"]) == bool(row["pawns"]) == (row["bot"] == ONE)
    for record in records:
        last = next(row for row in reversed(rows) if row["game"] == str(record["game"]))
        assert (last["bot"], last["score"], last["result"]) == (ONE, "#1", record["result"])


@pytest.mark.parametrize(
    "variant", ["standard", "rbc", *(pytest.param(each, marks=pytest.mark.slow) for each in ("chess960", "crazyhouse"))]
)
def test_every_move_of_every_player_has_a_static_score(variant: str, tmp_path: Path) -> None:
    moves = tmp_path / "moves.csv"
    terms = ("--games", 2, "--variant", variant, "--max-moves", 8, "--csv-out", moves)
    records, _ = played(tmp_path / "match.jsonl", RANDOM, "b=random:seed=2", *terms)
    rows = list(csv.DictReader(moves.read_text().splitlines()))
    expected = [
        f"{(cents if color == 'white' else -cents) / 100.0 + 0.0}"
        for record in records
        for color, cents in judged(record)
    ]
    assert [row["static"] for row in rows] == expected
    assert {row["score"] for row in rows} == {""}
    assert {row["bot"] for row in rows if row["static"]} == {RANDOM, "b"}


def judged(record: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield who moved, and White's evaluation of python-chess's board after the move."""
    if record["variant"] == "rbc":
        fens = record["history"]["fens_after_move"]
        for ply in range(record["plies"]):
            yield ("white", "black")[ply % 2], evaluate(chess.Board(fens[("true", "false")[ply % 2]][ply // 2]))
        return
    game = chess.pgn.read_game(io.StringIO(record["pgn"]))
    assert game is not None
    for node in game.mainline():
        yield ("black" if node.board().turn else "white"), evaluate(node.board())


@pytest.mark.slow
def test_seed_varies_the_games_and_repeats_the_match(tmp_path: Path) -> None:
    """Depth against depth, a match without a seed is the same two games over and over."""
    bots = (f"a={ONE},seed=1", f"b={ONE},seed=1")
    first, second = (
        [record["moves"] for record in played(tmp_path / name, *bots, "--games", 4, *limits)[0]]
        for name, *limits in (("one", "--max-moves", 4), ("two", "--max-moves", 4, "--concurrency", 2))
    )
    assert first == second
    assert len(set(map(str, first))) == 4
