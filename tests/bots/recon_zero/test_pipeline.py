"""The whole training in miniature; interrupting it anywhere changes nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.bots.recon_zero.learning import assert_same, log, needs_training, tiny, train

pytestmark = [needs_training, pytest.mark.slow]


def test_interrupted_training_ends_with_the_same_result(tmp_path: Path) -> None:
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    whole = train(unbroken, 2)
    assert whole.exit_code == 0, whole.output
    assert [line.split(":")[0] for line in whole.stdout.splitlines()] == ["Iteration 1", "Iteration 2"]
    assert train(broken, 1).exit_code == 0
    interrupt(broken)
    assert train(broken, 2).stdout.splitlines() == whole.stdout.splitlines()[1:]
    assert_same(broken, unbroken)
    first, second = log(broken)
    assert second["kept"] == first["samples"] + second["samples"] > 40
    assert second["step"] == 8
    assert sum(second[f"{end}_against_random"] for end in ("won", "drawn", "lost")) == 2
    assert "% against random" in whole.stdout


def interrupt(directory: Path) -> None:
    """Begin the next iteration, and interrupt it when its games are played and half of its steps are done."""
    from gm_bots.recon_zero.pipeline import Training

    training, events = Training(directory, tiny()), list[str]()

    def stop(what: str) -> None:
        events.append(what)
        if events.count("step") == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.iterate(stop)
    assert events.count("game") == 2


def test_training_killed_before_its_first_checkpoint_begins_again(tmp_path: Path) -> None:
    """What it leaves is its record."""
    assert train(tmp_path / "one", 1).exit_code == 0
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "run.json").write_text((tmp_path / "one" / "run.json").read_text())
    assert train(tmp_path / "two", None).exit_code == 0
    assert_same(tmp_path / "two", tmp_path / "one")


@pytest.mark.nightly
def test_first_games_are_played_without_the_network(tmp_path: Path) -> None:
    """Another network gives the same games while it is taught, and others afterwards."""
    played = []
    for channels in (4, 5):
        directory = tmp_path / str(channels)
        assert train(directory, 2, taught=1, channels=channels).exit_code == 0
        planes = np.load(directory / "samples" / "planes.npy", mmap_mode="r")
        first, second = (done["samples"] for done in log(directory))
        played.append((np.array(planes[:first]), np.array(planes[first : first + second])))
    (taught, alone), (taught_too, alone_too) = played
    assert np.array_equal(taught, taught_too)
    assert not np.array_equal(alone, alone_too)


def test_defaults_of_the_command_are_those_of_the_plan() -> None:
    """The command has its defaults where its help shows them, and the plan has them, too."""
    from gm_bots.recon_zero.command import recon_zero
    from gm_bots.recon_zero.plan import Plan

    given = recon_zero.make_context("recon-zero", ["--out", "nowhere"]).params
    assert given.pop("precision") == "auto"
    settings = {name: value for name, value in given.items() if name in dict(Plan().leaves())}
    assert len(settings) == 9
    assert Plan().changed(settings) == Plan()


def test_options_reach_their_settings_and_continue_without_being_repeated(tmp_path: Path) -> None:
    from gm_bots.recon_zero.checkpoint import load
    from gm_bots.recon_zero.command import train as command
    from gm_bots.recon_zero.plan import plan_from

    options = {"--games": 1, "--simulations": 1, "--steps": 1, "--learning-rate": 0.5, "--channels": 4, "--layers": 2}
    others = {"--teacher": 0, "--league": 0, "--precision": "bfloat16", "--seed": 7, "--iterations": 1}
    words = [str(word) for pair in {**options, **others}.items() for word in pair]
    done = CliRunner().invoke(command, ["recon-zero", "--out", str(tmp_path), *words])
    assert done.exit_code == 0, done.output
    trainer, extra = load(tmp_path / "latest.pt")
    assert trainer.optimiser.param_groups[0]["lr"] == 0.5
    found = dict(plan_from(extra["plan"], tmp_path).leaves())
    names = {name.strip("-").replace("-", "_"): value for name, value in {**options, **others}.items()}
    assert {name: found[name] for name in names if name != "iterations"} | {"iterations": 1} == names
    again = train(tmp_path, None, "--seed", 7)
    assert (again.exit_code, again.stdout) == (0, "")
    assert "1 iterations are finished, and 1 were asked for: give --iterations" in again.stderr


def test_training_with_other_settings_is_not_continued(tmp_path: Path) -> None:
    assert train(tmp_path, 1).exit_code == 0
    for option, was in (("--steps", 4), ("--simulations", 4), ("--channels", 4)):
        refused = train(tmp_path, 2, option, 9)
        assert refused.exit_code == 2
        says = " ".join(refused.output.split())
        assert f"{option}: {tmp_path} is of a training with {was}, not 9: leave the option out" in says


def test_one_worker_needs_no_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # makes its import fail
    done = train(tmp_path, 1, "--workers", "1")
    assert done.exit_code == 0, done.output


def test_directory_has_the_network_alone_when_all_iterations_are_done(tmp_path: Path) -> None:
    from gm_bots.recon_zero.checkpoint import BadCheckpoint, load, load_network

    assert train(tmp_path, 1).exit_code == 0
    ours, all_of_it = (load_network(tmp_path / name).state_dict() for name in ("network.pt", "latest.pt"))
    assert all((ours[name] == all_of_it[name]).all() for name in all_of_it)
    with pytest.raises(BadCheckpoint, match="is only a network"):
        load(tmp_path / "network.pt")
