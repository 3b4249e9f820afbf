"""The record of a training, by which it continues."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from gmd.version import VERSION
from tests.bots.recon_zero.learning import needs_training, tiny, train
from tests.tools import require_tool

pytestmark = [needs_training, pytest.mark.slow]


def record(directory: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((directory / "run.json").read_text())
    return content


def test_record_has_the_settings_the_seed_and_the_versions_of_each_start(tmp_path: Path) -> None:
    from gm_bots.recon_zero.checkpoint import load
    from gm_bots.recon_zero.plan import plan_from

    for iterations in (1, 2):
        assert train(tmp_path, iterations).exit_code == 0
    found = record(tmp_path)
    assert (found["plan"]["seed"], found["iterations"]) == (3, 2)
    plan = plan_from(found["plan"], "run.json")
    assert plan == plan_from(load(tmp_path / "latest.pt")[1]["plan"], "latest.pt") == tiny()
    assert [session["iteration"] for session in found["sessions"][1:]] == [0, 1]
    for session in found["sessions"][1:]:
        versions = session["versions"]
        assert (versions["gmd"], versions["python"]) == (VERSION, platform.python_version())
        assert versions["numpy"] == version("numpy")
        assert session["workers"] == 1


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": 1}, "format: .* has 1, and this gmd reads 3: use the gmd that wrote it"),
        ({"plan": {"games": 2, "network": {}, "player": {}, "members": [], "moon": 1}}, "has other settings .*'moon'"),
        ({"plan": {"network": {}, "player": {"moon": 1}, "members": []}}, "has other settings than this gmd: .*'moon'"),
        ({"plan": {}}, "has other settings than this gmd: 'network'"),
        ({"sessions": None, "plan": None}, "has other settings than this gmd"),
    ],
)
def test_record_that_cannot_be_read_is_refused(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    from gm_bots.recon_zero.plan import BadTraining, read_record

    path = tmp_path / "run.json"
    assert read_record(tmp_path) is None
    path.write_text(json.dumps({"format": 3, "plan": {}, "iterations": 1, "sessions": [], **change}))
    with pytest.raises(BadTraining, match=complaint):
        read_record(tmp_path)
    for text, complaint in (('{"format": 3}', "it lacks 'plan'"), ("no record", "is not the record of a training")):
        path.write_text(text)
        with pytest.raises(BadTraining, match=complaint):
            read_record(tmp_path)


def test_commit_is_that_of_a_checkout_of_gmd_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is installed within another project's checkout does not have that project's commit."""
    from gm_bots.recon_zero import plan

    require_tool("git")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        subprocess.run([*git, *arguments], check=True)
    file = tmp_path / "plan.py"
    file.write_text("")
    monkeypatch.setattr(plan, "__file__", str(file))
    assert plan.commit() is None
    for arguments in (["add", "."], ["commit", "-q", "-m", "add"]):
        subprocess.run([*git, *arguments], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert plan.commit() == head
    file.write_text("changed")
    assert plan.commit() == f"{head}+"
