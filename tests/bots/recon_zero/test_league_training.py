"""Trainings against a league: interrupted anywhere they end alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install -e '.[train]'")

from tests.bots.recon_zero.learning import assert_same, log, needs_training, train

pytestmark = [needs_training, pytest.mark.slow]

LEAGUE = {"games": 4, "in_step": 3, "steps": 3, "matches": 0, "max_plies": 8, "taught": 1, "league": 0.5}
LEAGUE |= {"members": ("material", "attacker"), "simulations": 2}  # type: ignore[dict-item]


def test_resumed_training_against_a_league_ends_with_the_same_result(tmp_path: Path) -> None:
    """From the second iteration on the first one's network is a member."""
    whole = train(tmp_path / "unbroken", 3, **LEAGUE)
    assert whole.exit_code == 0, whole.output
    assert train(tmp_path / "broken", 1, **LEAGUE).exit_code == 0
    resumed = train(tmp_path / "broken", 3)
    assert resumed.exit_code == 0, resumed.output
    assert_same(tmp_path / "broken", tmp_path / "unbroken")
    members = {"material", "attacker", "iteration-0001"}
    for done in log(tmp_path / "unbroken"):
        assert sum(map(sum, done["league"].values())) == 2
        assert done["league"].keys() <= members
    assert any(f"% against {name}" in resumed.stdout for name in members)


def test_league_has_the_members_that_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gm_bots.recon_zero.command import train as command
    from gm_bots.recon_zero.plan import read_record

    small = {"games": 1, "simulations": 1, "steps": 1, "channels": 4, "layers": 1, "teacher": 0, "iterations": 1}
    words = [word for name, value in small.items() for word in (f"--{name}", str(value))]
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere")
    found = {}
    for league in ("0.5", "0"):
        done = CliRunner().invoke(command, ["recon-zero", "--out", str(tmp_path / league), "--league", league, *words])
        assert done.exit_code == 0, done.output
        assert ("trout is no member of the league: " in done.stderr) == (league == "0.5")
        record = read_record(tmp_path / league)
        assert record is not None
        found[league] = record.plan.members
    assert found == {"0.5": ("material", "attacker"), "0": ()}


def test_share_of_the_league_is_from_0_to_1(tmp_path: Path) -> None:
    refused = train(tmp_path, 1, "--league", 2)
    assert refused.exit_code == 2
    assert "2.0 is not in the range 0<=x<=1" in " ".join(refused.output.split())
