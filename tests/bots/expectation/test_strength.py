"""The strength of expectation against reconchess's TroutBot, on reconchess's clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arena.matches import played
from tests.tools import require_tool

BOT, TROUT = "expectation:seed=1", "trout=reconchess:reconchess.bots.trout_bot"

#: The least share of the points.
LEAST = 0.85


@pytest.mark.nightly
def test_bot_is_as_strong_as_stated(tmp_path: Path) -> None:
    """It plays within reconchess's clocks, with only the number of games given."""
    require_tool("stockfish")
    count = 40
    options = ["--variant", "rbc", "--clock", "900+5", "--games", count, "--concurrency", 2]
    games, summary = played(tmp_path / "games.jsonl", f"bot={BOT}", TROUT, *options)
    assert len(games) == count
    assert [game["faults"] for game in games if game["faults"]] == [], "neither was late, and neither failed"
    assert summary["meetings"][0]["score"][0] >= LEAST, summary
