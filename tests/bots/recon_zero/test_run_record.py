"""The record of a training, from which it continues and can be repeated."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import pytest

from tests.bots.recon_zero.learning import needs_torch

pytestmark = [needs_torch, pytest.mark.slow]

#: A training in seconds, without games in step.
TINY = ("--games", 1, "--in-step", 0, "--steps", 2, "--batch", 2, "--matches", 0, "--matches-older", 0)
TINY = (*TINY, "--simulations", 2, "--determinisations", 1, "--max-plies", 4, "--channels", 4, "--layers", 1)


def train(*arguments: object) -> Any:
    from click.testing import CliRunner

    from gm_bots.recon_zero.command import train as command

    return CliRunner().invoke(command, ["recon-zero", *map(str, arguments)])


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    done = train("--out", tmp_path / "one", "--iterations", 1, "--seed", 7, *TINY)
    assert done.exit_code == 0, done.output
    return tmp_path / "one"


def record(directory: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((directory / "run.json").read_text())
    return content


def test_record_has_the_settings_the_seed_and_the_versions_of_each_start(trained: Path) -> None:
    import numpy
    import torch

    from gm_bots.recon_zero.checkpoint import history
    from gm_bots.recon_zero.plan import plan_from
    from gmd.version import VERSION

    assert train("--resume", trained, "--iterations", 2, "--device", "cpu").exit_code == 0
    found = record(trained)
    assert (found["plan"]["seed"], found["iterations"]) == (7, 2)
    assert plan_from(found["plan"], "run.json") == plan_from(history(trained / "latest.pt")["plan"], "latest.pt")
    assert [session["iteration"] for session in found["sessions"]] == [0, 1]
    for session in found["sessions"]:
        versions = session["versions"]
        assert (versions["gmd"], versions["python"]) == (VERSION, platform.python_version())
        assert _base(versions["torch"]) == _base(torch.__version__)
        assert versions["numpy"] == numpy.__version__
        assert (session["workers"], session["device"]) == (1, "cpu")


def test_directory_has_the_network_alone_when_all_iterations_are_done(trained: Path) -> None:
    from gm_bots.recon_zero.checkpoint import BadCheckpoint, load, load_network

    ours, all_of_it = (load_network(trained / name).state_dict() for name in ("network.pt", "latest.pt"))
    assert all((ours[name] == all_of_it[name]).all() for name in all_of_it)
    with pytest.raises(BadCheckpoint, match="is only a network"):
        load(trained / "network.pt")


def test_training_killed_before_its_first_checkpoint_is_resumed_by_its_record(trained: Path, tmp_path: Path) -> None:
    whole = (trained / "log.jsonl").read_text()
    begun = tmp_path / "begun"
    begun.mkdir()
    (begun / "run.json").write_text((trained / "run.json").read_text())
    assert train("--resume", begun).exit_code == 0
    assert (begun / "log.jsonl").read_text() == whole


def test_recipe_repeats_a_training(trained: Path, tmp_path: Path) -> None:
    for recipe, name in ((trained, "two"), (trained / "run.json", "three")):
        done = train("--recipe", recipe, "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
        assert (tmp_path / name / "log.jsonl").read_text() == (trained / "log.jsonl").read_text()


def test_recipe_of_other_versions_is_repeated_with_a_remark(trained: Path, tmp_path: Path) -> None:
    content = record(trained)
    versions = content["sessions"][-1]["versions"]
    versions |= {"numpy": "0.1", "torch": f"{_base(versions['torch'])}+other", "opponents": "sha256:0123456789abcdef"}
    (tmp_path / "run.json").write_text(json.dumps(content))
    for directory, remarks in ((trained, 0), (tmp_path, 1)):
        done = train("--recipe", directory, "--out", tmp_path / f"again-{remarks}")
        says = " ".join(done.output.split())
        assert says.count("The games may be others than those of the recipe: ") == remarks
        assert says.count("numpy was 0.1 and is ") == remarks
        assert says.count("gmd's model of opponents was sha256:01234567 and is ") == remarks
        assert "+other" not in says


@pytest.mark.parametrize("option", ["--resume", "--out"])
def test_training_with_a_setting_that_is_gone_continues_with_a_remark(option: str, trained: Path) -> None:
    content = record(trained)
    content["plan"]["player"]["danger"] = 10.0
    (trained / "run.json").write_text(json.dumps(content))
    options = ("--seed", 7, *TINY) if option == "--out" else ()
    for iterations, remarks in ((2, 1), (3, 0)):
        done = train(option, trained, "--iterations", iterations, *options)
        assert done.exit_code == 0, done.output
        said = " ".join(done.output.split())
        assert said.count("The games may be others than before: danger was 10.0, which gmd no longer has") == remarks
    assert "danger" not in record(trained)["plan"]["player"]


@pytest.mark.nightly
def test_recipe_of_a_training_that_lost_a_setting_on_the_way_says_so(trained: Path, tmp_path: Path) -> None:
    content = record(trained)
    content["plan"]["player"]["danger"] = 10.0
    (trained / "run.json").write_text(json.dumps(content))
    for number in range(2):
        done = train("--recipe", trained, "--out", tmp_path / f"again-{number}")
        assert done.exit_code == 0, done.output
        said = " ".join(done.output.split())
        assert "others than those of the recipe: danger was 10.0, which gmd no longer has" in said
        assert train("--resume", trained, "--iterations", 2).exit_code == 0
    assert [each.get("former") for each in record(trained)["sessions"]] == [{"danger": 10.0}, None, None]


def test_training_of_gmd_0_2_without_a_record_continues_with_a_remark(trained: Path) -> None:
    import torch

    (trained / "run.json").unlink()
    content = torch.load(trained / "latest.pt")
    (trained / "latest.pt").unlink()
    content["extra"]["plan"]["player"]["danger"] = 10.0
    torch.save(content, trained / "latest.pt")
    done = train("--resume", trained, "--iterations", 2)
    assert done.exit_code == 0, done.output
    assert "others than before: danger was 10.0, which gmd no longer has" in " ".join(done.output.split())


def test_continuing_says_which_versions_were_others(trained: Path) -> None:
    content = record(trained)
    content["sessions"][-1]["versions"] |= {"numpy": "0.1", "opponents": "sha256:0123456789abcdef"}
    (trained / "run.json").write_text(json.dumps(content))
    done = train("--resume", trained, "--iterations", 2)
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "others than before: numpy was 0.1 and is " in said
    assert "gmd's model of opponents was sha256:01234567 and is " in said


def test_record_of_a_start_without_versions_continues(trained: Path) -> None:
    content = record(trained)
    del content["sessions"][-1]["versions"]
    (trained / "run.json").write_text(json.dumps(content))
    done = train("--resume", trained, "--iterations", 2)
    assert done.exit_code == 0, done.output


def test_recipe_is_repeated_with_the_precision_that_the_processor_knows(trained: Path, tmp_path: Path) -> None:
    done = train("--recipe", trained, "--out", tmp_path / "other", "--precision", "bfloat16")
    assert done.exit_code == 0, done.output
    assert "others than those of the recipe: precision was float32 and is bfloat16" in " ".join(done.output.split())
    assert record(tmp_path / "other")["plan"]["precision"] == "bfloat16"
    refused = train("--resume", trained, "--precision", "bfloat16")
    assert f"--precision: {trained} is of a training with float32, not bfloat16" in " ".join(refused.output.split())


def test_option_that_contradicts_the_record_is_refused(trained: Path, tmp_path: Path) -> None:
    refused = train("--resume", trained, "--iterations", 2, "--batch", 9)
    assert refused.exit_code == 2
    says = " ".join(refused.output.split())
    assert f"--batch: {trained} is of a training with 2, not 9: leave the option out" in says
    refused = train("--recipe", trained, "--out", tmp_path / "other", "--buffer-size", 9)
    assert "is of a training with 200000, not 9" in refused.output
    assert "--buffer-size: " in refused.output
    assert train("--resume", trained, "--batch", 2, "--seed", 7).exit_code == 0, "these are its own"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "give --out DIR for a new training, or --resume DIR to continue one"),
        (("--out", "a", "--resume", "."), "give --out DIR for a new training, or --resume DIR to continue one"),
        (("--resume", "nowhere"), "--resume: nowhere has no training, neither run.json nor latest.pt"),
        (("--resume", "nowhere", "--recipe", "shipped"), "--recipe: a training continues with its own settings"),
    ],
)
def test_directory_has_to_be_named_once(arguments: tuple[str, ...], complaint: str) -> None:
    refused = train(*arguments)
    assert refused.exit_code == 2
    assert complaint in " ".join(refused.output.split())


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": 2}, "format: .* has 2, and this version of gmd reads 1"),
        ({"plan": {"games": 2, "moon": 1}}, "moon: .* has this setting, which this version of gmd does not know"),
        ({"plan": {"player": {"moon": 1}}}, "moon: .* has this setting"),
        ({"plan": None}, "is not the record of a training: .*; name the run.json that gmd train wrote"),
    ],
)
def test_record_that_cannot_be_read_is_refused(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    from gm_bots.recon_zero import run_record
    from gm_bots.recon_zero.plan import BadTraining

    path = tmp_path / "run.json"
    path.write_text(json.dumps({"format": 1, "plan": {}, "iterations": 1, "sessions": [], **change}))
    with pytest.raises(BadTraining, match=complaint):
        run_record.read(path)
    path.write_text('{"format": 1}')
    with pytest.raises(BadTraining, match=r"is not the record of a training: it lacks 'plan'; name the run\.json"):
        run_record.read(path)
    path.write_text("no record")
    with pytest.raises(BadTraining, match="is not the record of a training"):
        run_record.read(path)


def test_shipped_recipe_is_the_plan_of_the_shipped_network() -> None:
    """As far as the version that trained it had these settings."""
    from dataclasses import asdict

    from gm_bots.recon_zero import run_record
    from gm_bots.recon_zero.checkpoint import history
    from gm_bots.recon_zero.plan import check_played, check_same, leaves
    from gm_bots.recon_zero.shipped import FILE, RECIPE

    recipe, trained = run_record.read(RECIPE), history(FILE)
    check_played(recipe.plan)
    check_same(recipe.plan, trained["plan"], FILE)
    assert recipe.iterations == trained["iteration"]
    (session,) = recipe.sessions
    assert session["versions"].keys() == run_record.versions().keys()
    written = json.loads(RECIPE.read_text())["plan"]
    named = leaves(written).keys() - recipe.former.keys()
    assert named == leaves(asdict(recipe.plan)).keys(), "defaults may change: it names every setting"


def test_commit_is_that_of_a_checkout_of_gmd_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is installed within another project's checkout does not have that project's commit."""
    import subprocess

    from gm_bots.recon_zero import run_record
    from tests.tools import require_tool

    require_tool("git")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        subprocess.run([*git, *arguments], check=True)
    file = tmp_path / "run_record.py"
    file.write_text("")
    monkeypatch.setattr(run_record, "__file__", str(file))
    assert run_record.commit() is None
    for arguments in (["add", "."], ["commit", "-q", "-m", "add"]):
        subprocess.run([*git, *arguments], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert run_record.commit() == head
    file.write_text("changed")
    assert run_record.commit() == f"{head}+"


def _base(version: str) -> str:
    """Return a version without the name of its build, which a package's metadata may have or lack."""
    return version.partition("+")[0]
