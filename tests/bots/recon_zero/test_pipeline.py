"""The whole training in miniature; interrupting it anywhere changes nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tests.bots.recon_zero.learning import needs_torch

pytestmark = [needs_torch, pytest.mark.slow]

SMALL = {
    "games": 2,
    "in_step": 0,
    "taught": 0,
    "steps": 4,
    "batch": 8,
    "matches": 2,
    "matches_older": 2,
    "simulations": 4,
    "determinisations": 2,
    "max_plies": 12,
    "channels": 4,
    "layers": 1,
    "seed": 3,
}
#: The same on a command line.
OPTIONS = [word for name, value in SMALL.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def train(directory: Path, iterations: int, *options: str) -> Result:
    from gm_bots.recon_zero.command import train as command

    arguments = ["recon-zero", "--out", str(directory), "--iterations", str(iterations), *OPTIONS, *options]
    return CliRunner().invoke(command, arguments)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Use one thread: with several, sums may be added in another order each time."""
    import torch

    torch.set_num_threads(1)


def test_interrupted_training_ends_with_the_same_result(tmp_path: Path) -> None:
    from gm_bots.recon_zero.checkpoint import load

    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    whole = train(unbroken, 2)
    assert whole.exit_code == 0, whole.output
    assert [line.split(":")[0] for line in whole.stdout.splitlines()] == ["Iteration 1", "Iteration 2"]
    assert train(broken, 1).exit_code == 0
    interrupt(broken)
    assert train(broken, 2).stdout.splitlines() == whole.stdout.splitlines()[1:]
    assert (broken / "log.jsonl").read_text() == (unbroken / "log.jsonl").read_text()
    (ours, extra), (theirs, other) = load(broken / "latest.pt"), load(unbroken / "iteration-0002.pt")
    weights = theirs.network.state_dict()
    assert all((ours.network.state_dict()[name] == weights[name]).all() for name in weights)
    assert extra == other
    log = [json.loads(line) for line in (broken / "log.jsonl").read_text().splitlines()]
    assert [each["iteration"] for each in log] == [1, 2]
    assert log[1]["kept"] == log[0]["samples"] + log[1]["samples"] > 40
    assert log[1]["step"] == 8
    assert [(each["older_iteration"], each["matches_older"]) for each in log] == [(None, 0), (1, 2)]
    assert log[0]["points_against_older"] is None
    assert 0 <= log[1]["points_against_older"] <= 1
    assert whole.stdout.splitlines()[1].endswith("% against iteration 1")


def interrupt(directory: Path) -> None:
    """Begin the next iteration, and interrupt it when its games are played and half of its steps are done."""
    from gm_bots.recon_zero.pipeline import Training
    from gm_bots.recon_zero.training_options import plan_of

    training = Training(directory, plan_of({**defaults(), **SMALL}))
    events: list[str] = []

    def stop(what: str) -> None:
        events.append(what)
        if events.count("step") == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.iterate(stop)
    assert events.count("game") == 2


def defaults() -> dict[str, Any]:
    """Return the settings of a plan with the command's defaults, as its help shows them."""
    from gm_bots.recon_zero.command import recon_zero

    others = ("out", "resume", "recipe", "iterations", "workers", "ray_address", "device")
    given = recon_zero.make_context("recon-zero", ["--out", "nowhere"]).params
    return {name: value for name, value in given.items() if name not in others}


@pytest.mark.nightly
def test_first_games_may_be_played_without_the_network(tmp_path: Path) -> None:
    """Another network gives the same games while it is taught, and others afterwards."""
    played = []
    for channels in (4, 5):
        directory = tmp_path / str(channels)
        assert train(directory, 2, "--taught", "1", "--channels", str(channels)).exit_code == 0
        log = [json.loads(line) for line in (directory / "log.jsonl").read_text().splitlines()]
        planes = np.load(directory / "samples" / "planes.npy", mmap_mode="r")
        first, both = log[0]["samples"], log[0]["samples"] + log[1]["samples"]
        played.append((np.array(planes[:first]), np.array(planes[first:both])))
    (taught, alone), (taught_too, alone_too) = played
    assert np.array_equal(taught, taught_too)
    assert not np.array_equal(alone, alone_too)


def test_defaults_of_the_command_are_those_of_the_plan(tmp_path: Path) -> None:
    """The command has its defaults where its help shows them, and the plan has them, too."""
    from gm_bots.recon_zero.plan import Plan
    from gm_bots.recon_zero.training_options import plan_of

    assert plan_of(defaults()) == Plan()


def test_options_reach_their_settings(tmp_path: Path) -> None:
    """These are the step's weight decay, the ring's capacity, the search's exploration, and the simulations in matches
    alone.
    """
    from gm_bots.recon_zero.checkpoint import load

    settings = ("--weight-decay", "0.25", "--buffer-size", "9", "--c-puct", "2.5", "--eval-simulations", "3")
    assert train(tmp_path, 1, *settings).exit_code == 0
    trainer, extra = load(tmp_path / "latest.pt")
    assert trainer.optimiser.param_groups[0]["weight_decay"] == 0.25
    assert np.load(tmp_path / "samples" / "outcome.npy", mmap_mode="r").shape == (9,)
    plan, (done,) = extra["plan"], extra["log"]
    assert (plan["player"]["c_puct"], plan["player"]["simulations"]) == (2.5, 4)
    assert (done["kept"], done["eval_simulations"]) == (9, 3)
    refused = train(tmp_path, 2, *settings, "--buffer-size", "10")
    assert f"Error: buffer_size: {tmp_path / 'latest.pt'} belongs to a training with 9, not 10" in refused.output


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("group", "name", "kept", "removed"),
    [
        ("network", "head", "planes", "dense"),
        ("network", "material", True, False),
        ("training", "value", "search", "outcome"),
        ("", "learnt", "position", "belief"),
    ],
)
def test_training_of_gmd_0_2_continues_without_what_was_removed(
    group: str, name: str, kept: object, removed: object, tmp_path: Path
) -> None:
    import torch

    assert train(tmp_path, 1).exit_code == 0
    content = torch.load(tmp_path / "latest.pt")
    (tmp_path / "latest.pt").unlink()
    plan = content["extra"]["plan"]
    for value in (removed, kept):
        for settings in (plan[group], content[group]) if group else (plan,):
            settings[name] = value
        torch.save(content, tmp_path / "latest.pt")
        done = train(tmp_path, 2)
        if value == removed:
            assert done.exit_code == 1
            assert f"{name} is {value}, which gmd had until version 0.2: use that one" in done.output
    assert done.exit_code == 0, done.output


def test_training_with_other_settings_is_not_resumed(tmp_path: Path) -> None:
    assert train(tmp_path, 1).exit_code == 0
    refused = train(tmp_path, 2, "--batch", "9")
    assert refused.exit_code == 1
    assert "batch: " in refused.output
    assert "belongs to a training with 8, not 9" in refused.output
    refused = train(tmp_path, 2, "--simulations", "5")
    assert f"Error: simulations: {tmp_path / 'latest.pt'} belongs to a training with 4, not 5" in refused.output


def test_lost_log_is_written_again(tmp_path: Path) -> None:
    assert train(tmp_path, 1).exit_code == 0
    written = (tmp_path / "log.jsonl").read_text()
    (tmp_path / "log.jsonl").unlink()
    again = train(tmp_path, 1)
    assert (again.exit_code, again.stdout) == (0, "")
    assert (tmp_path / "log.jsonl").read_text() == written


def test_one_worker_needs_no_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # makes its import fail
    done = train(tmp_path, 1, "--workers", "1")
    assert done.exit_code == 0, done.output
