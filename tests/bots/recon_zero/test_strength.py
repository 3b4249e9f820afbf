"""The strength of the shipped bot, with the network that comes with it, against reconchess's own bots."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gm_bots.recon_zero.checkpoint_files import shipped
from tests.arena.matches import games, summary
from tests.bots.recon_zero.learning import needs_torch
from tests.serving import environment
from tests.tools import require_tool

pytestmark = needs_torch

#: The least share of the points.
LEAST = {"RandomBot": 0.98, "AttackerBot": 0.90, "TroutBot": 0.85}


@pytest.mark.nightly
def test_bot_is_as_strong_as_stated(tmp_path: Path) -> None:
    """It plays within reconchess's clocks."""
    require_tool("stockfish")
    assert shipped() is not None
    path, count = tmp_path / "games.jsonl", 200
    bots = ["recon-zero", *LEAST, "--tournament", "gauntlet"]
    command = [sys.executable, "-m", "gmd", "match", *bots, "--games", str(count), "--concurrency", "2"]
    subprocess.run([*command, "--json-out", str(path)], env=environment(), check=True)
    assert len(games(path)) == 3 * count
    ours = [fault for game in games(path) for color, fault in game["faults"].items() if game[color] == "recon-zero"]
    assert ours == [], "the bot was never late, and never failed"
    scores = {meeting["bots"][1]: meeting["score"][0] for meeting in summary(path)["meetings"]}
    assert scores.keys() == LEAST.keys()
    assert [name for name, least in LEAST.items() if scores[name] < least] == []
