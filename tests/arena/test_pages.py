"""The examples of the arena's README, and of its pages of the reference, run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.playing import untimed
from tests.docs.pages import MANUAL, ROOT, Reader, reader
from tests.tools import require_tool

pytestmark = pytest.mark.slow


@pytest.fixture
def at_desk(tmp_path: Path) -> Iterator[Reader]:
    """Yield a reader with a new daemon and an empty folder."""
    require_tool("jq")
    require_tool("stockfish")
    with reader(tmp_path) as found:
        yield found


def test_match_of_the_arenas_readme_is_played(at_desk: Reader) -> None:
    (printed,) = at_desk.follow(ROOT / "clients/arena/README.md")
    assert re.search(r"^a against b: won \d, drawn \d, lost \d; ", printed, re.MULTILINE)


def test_examples_of_the_match_page_play_a_match(at_desk: Reader) -> None:
    (printed,) = at_desk.follow(MANUAL / "reference/match.md")
    lines = untimed(printed).splitlines()
    game = r"game \d: (new - old|old - new) .*, opening [12]: (open|closed)$"
    assert sum(bool(re.match(game, line)) for line in lines) == 4
    assert any(line.startswith("new against old: won ") for line in lines)
    assert any(line.startswith("│ 1 │ ") for line in lines)
    assert (at_desk.folder / "match.pgn").read_text().count("[Event ") == 4
    assert len((at_desk.folder / "match.jsonl").read_text().splitlines()) == 6


def test_examples_of_the_replay_page_show_and_play_back_a_game(at_desk: Reader) -> None:
    shown, watched, played = (untimed(each).splitlines() for each in at_desk.follow(MANUAL / "reference/replay.md"))
    assert [line for line in shown if line.startswith("1. ")] == [
        "1. White senses e7",
        "1. White moves e4  [0-1 resignation]",
    ]
    assert watched[2:] == ["1. f3", "1... e5", "2. g4", "2... Qh4#", "0-1 checkmate"]
    assert played == [
        "1. White moves e4  [0-1 resignation]",
        "turn 1: move nothing, recorded e2e4",
        "chosen as recorded: senses 1 of 1, moves 0 of 1",
        "status 1",
    ]
