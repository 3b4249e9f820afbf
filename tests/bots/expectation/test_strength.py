"""The strength of expectation against reconchess's TroutBot, on reconchess's clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arena.matches import played
from tests.helpers_proof import proof_size
from tests.tools import require_tool

pytestmark = pytest.mark.proof

BOT, TROUT = "expectation:seed=1", "trout=reconchess:reconchess.bots.trout_bot"

#: The least share of the points.
LEAST = 0.85


@pytest.mark.long
def test_bot_is_as_strong_as_stated(tmp_path: Path) -> None:
    """It plays within reconchess's clocks, with only the number of games given. Fewer than all of them prove that it
    plays.
    """
    require_tool("stockfish")
    count = proof_size(1, 40, share=2)
    short = ["--max-moves", 3] if count == 1 else []
    options = ["--variant", "rbc", "--clock", "900+5", "--games", count, "--concurrency", 2, *short]
    games, summary = played(tmp_path / "games.jsonl", f"bot={BOT}", TROUT, *options)
    assert len(games) == count
    assert [game["faults"] for game in games if game["faults"]] == [], "neither was late, and neither failed"
    if count == proof_size(0, 40, share=0):
        assert summary["meetings"][0]["score"][0] >= LEAST, summary
