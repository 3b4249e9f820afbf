"""Trainings against a league: interrupted anywhere they end alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install -e '.[train]'")

from tests.bots.recon_zero.learning import assert_same, checkpoint, log, needs_training, train

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


def test_network_joins_the_league_of_a_training_for_good(tmp_path: Path) -> None:
    probe = checkpoint(tmp_path / "probe.pt")
    assert train(tmp_path / "main", 1, **LEAGUE).exit_code == 0
    joined = train(tmp_path / "main", 8, "--member", probe)
    assert joined.exit_code == 0, joined.output
    assert any("probe" in done["league"] for done in log(tmp_path / "main")[1:])
    probe.unlink()
    assert train(tmp_path / "main", 9).exit_code == 0, "the directory has what it needs"
    other = checkpoint(tmp_path / "other.pt", 2)
    refused = train(tmp_path / "main", 9, "--member", f"probe={other}")
    assert (refused.exit_code, "the league has another of that name" in refused.output) == (2, True)
    (tmp_path / "main" / "members" / "probe.pt").unlink()
    refused = train(tmp_path / "main", 10)
    assert refused.exit_code == 1
    assert f"member: {tmp_path / 'main' / 'members' / 'probe.pt'} is missing, the network of member probe" in (
        refused.output
    )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--league", 0.5, "--member", "material"), "--member: the league has material alone; name another"),
        (("--member", "fritz"), "'fritz' is not a bot"),
        (("--league", 2), "2.0 is not in the range 0<=x<=1"),
    ],
)
def test_league_that_cannot_be_played_is_refused(options: tuple[object, ...], complaint: str, tmp_path: Path) -> None:
    from gm_bots.recon_zero.command import train as command

    words = ["recon-zero", "--out", tmp_path / "none", "--precision", "float32", *options]
    refused = CliRunner().invoke(command, list(map(str, words)))
    assert refused.exit_code == 2
    assert complaint in " ".join(refused.output.split())
    assert not (tmp_path / "none").exists()


def test_training_without_a_league_has_no_members(tmp_path: Path) -> None:
    refused = train(tmp_path, 1, "--member", "material")
    assert (refused.exit_code, "--member: the training has no league" in refused.output) == (2, True)
