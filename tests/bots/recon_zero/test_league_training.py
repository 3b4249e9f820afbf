"""Trainings against a league, and against one alone: interrupted anywhere they end alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("numba", reason="needs numba: pip install 'grandmasterd[env]'")
pytest.importorskip("torch", reason="needs PyTorch: pip install 'grandmasterd[train]'")

from gm_bots.recon_zero.command import train as command
from tests.bots.recon_zero.learning import checkpoint

pytestmark = pytest.mark.slow

SMALL = (
    *("--games", "4", "--in-step", "3", "--steps", "3", "--batch", "4", "--matches", "0", "--matches-older", "0"),
    *("--simulations", "2", "--determinisations", "2", "--max-plies", "8", "--channels", "4", "--layers", "1"),
    *("--seed", "3", "--taught", "1"),
)
LEAGUE = ("--league", "0.5", "--member", "material", "--member", "attacker")


def train(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["recon-zero", *map(str, arguments)])


def begin(directory: Path, iterations: int, *options: object) -> Path:
    done = train("--out", directory, "--iterations", iterations, *SMALL, *options)
    assert done.exit_code == 0, done.output
    return directory


def log(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "log.jsonl").read_text().splitlines()]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Use one thread: with several, sums may be added in another order each time."""
    import torch

    torch.set_num_threads(1)


def same_weights(one: Path, other: Path) -> bool:
    from gm_bots.recon_zero.checkpoint import load

    (ours, extra), (theirs, others) = load(one / "latest.pt"), load(other / "latest.pt")
    weights = theirs.network.state_dict()
    return extra == others and all((ours.network.state_dict()[name] == weights[name]).all() for name in weights)


@pytest.mark.nightly
def test_resumed_training_against_a_league_ends_with_the_same_result(tmp_path: Path) -> None:
    """From the second iteration on the first one's network is a member."""
    unbroken = begin(tmp_path / "unbroken", 3, *LEAGUE)
    broken = begin(tmp_path / "broken", 1, *LEAGUE)
    resumed = train("--resume", broken, "--iterations", 3)
    assert resumed.exit_code == 0, resumed.output
    assert log(broken) == log(unbroken)
    assert same_weights(broken, unbroken)
    members = {"material", "attacker", "iteration-0001"}
    for done in log(unbroken):
        assert sum(map(sum, done["league"].values())) == 2
        assert done["league"].keys() <= members
    assert "against the league" in resumed.stdout
    again = train("--resume", broken)
    assert (again.exit_code, again.stdout) == (0, "")
    assert "3 iterations are finished, and 3 were asked for: give --iterations" in again.stderr


def test_exploiter_meets_one_network_alone_and_may_join_a_league(tmp_path: Path) -> None:
    frozen = checkpoint(tmp_path / "frozen.pt")
    probe = begin(tmp_path / "probe", 2, "--against", frozen, "--start", frozen)
    assert [done["league"].keys() for done in log(probe)] == [{"frozen"}, {"frozen"}]
    assert [sum(map(sum, done["league"].values())) for done in log(probe)] == [4, 4]
    frozen.unlink()
    assert train("--resume", probe, "--iterations", 3).exit_code == 0, "the directory has what it needs"
    main = begin(tmp_path / "main", 1, *LEAGUE)
    joined = train("--resume", main, "--iterations", 8, "--member", probe / "latest.pt", "--games", 4)
    assert joined.exit_code == 0, joined.output
    assert any("probe" in done["league"] for done in log(main)[1:])
    assert train("--resume", main, "--iterations", 9).exit_code == 0, "it has joined for good"
    (main / "members" / "probe.pt").unlink()
    refused = train("--resume", main, "--iterations", 10)
    assert refused.exit_code == 1
    assert f"member: {main / 'members' / 'probe.pt'} is missing, the network of member probe" in refused.output


def test_training_begins_with_the_network_that_it_is_given(tmp_path: Path) -> None:
    import torch

    from gm_bots.recon_zero.checkpoint import load_network

    first = checkpoint(tmp_path / "first.pt")
    begun = begin(tmp_path / "begun", 1, "--start", first, "--learning-rate", 1e-9, "--weight-decay", 0)
    ours, given = (load_network(path).state_dict() for path in (begun / "latest.pt", first))
    assert all(torch.allclose(ours[name], given[name], atol=1e-6) for name in given)
    refused = train("--out", tmp_path / "larger", *SMALL, "--start", first, "--channels", 5)
    assert refused.exit_code == 1
    assert "channels: " in refused.output
    assert "is a network with 4, not 5" in refused.output


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--league", 0.5, "--member", "material"), "--member: the league has material alone; name another"),
        (("--member", "material"), "--member: add --league SHARE"),
        (("--against", "material", *LEAGUE), "--against: all games are against that one"),
        ((*LEAGUE, "--in-step", 0), "--in-step 0: games against others are played in step"),
        (("--against", "fritz"), "'fritz' is not a bot"),
        (("--league", 2), "2.0 is not in the range 0<=x<=1"),
        (("--recipe", "nowhere"), "--recipe: nowhere is neither shipped nor the run.json of a training"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    options: tuple[object, ...], complaint: str, tmp_path: Path
) -> None:
    refused = train("--out", tmp_path / "none", *SMALL, *options)
    assert refused.exit_code == 2
    assert complaint in " ".join(refused.output.split())
    assert not (tmp_path / "none").exists()
