"""A checkpoint is written once, and a training that is killed at any moment resumes from a whole one."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bots.recon_zero.learning import checkpoint, needs_training

pytestmark = [needs_training, pytest.mark.slow]

ROOT = Path(__file__).parents[3]


@pytest.mark.nightly
def test_training_killed_at_any_file_operation_ends_with_the_same_result(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.bots.recon_zero.killing", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    whole, *others = [json.loads(line) for line in done.stdout.splitlines()]
    assert (whole["step"], whole["is_linked"]) == (4, True)
    checkpoints = ["iteration-0001.pt", "iteration-0002.pt", "latest.pt"]
    assert whole["files"] == ["events", *checkpoints, "results.csv", "samples"]
    assert whole["rows"] == ["1", "2"]
    assert [each.pop("killed") for each in others] == [True] * (len(others) - 1) + [False]
    assert len(others) > 10
    assert all(each == others[-1] for each in others)
    assert {name: whole[name] for name in others[0]} == others[0]


def test_linked_checkpoint_is_one_file_with_two_names(tmp_path: Path) -> None:
    from gm_bots.recon_zero.checkpoint import link

    first, second = checkpoint(tmp_path / "iteration-0001.pt", 1), checkpoint(tmp_path / "iteration-0002.pt", 2)
    latest = tmp_path / "latest.pt"
    for newest in (first, second, second):
        link(newest, latest)
        assert latest.samefile(newest)
    assert sorted(tmp_path.iterdir()) == [first, second, latest]


def test_checkpoint_is_copied_when_links_are_impossible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gm_bots.recon_zero.checkpoint import link

    def refused(*arguments: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")  # Linux reports so for FAT

    monkeypatch.setattr(os, "link", refused)
    made, latest = checkpoint(tmp_path / "iteration-0001.pt"), tmp_path / "latest.pt"
    latest.write_text("older")
    link(made, latest)
    assert latest.read_bytes() == made.read_bytes()
    assert not latest.samefile(made)
    assert sorted(tmp_path.iterdir()) == [made, latest]


def test_new_checkpoint_does_not_change_the_one_a_killed_training_linked(tmp_path: Path) -> None:
    """Between the link and its renaming, the temporary name refers to the last checkpoint."""
    made = checkpoint(tmp_path / "iteration-0001.pt", 1)
    before = made.read_bytes()
    os.link(made, tmp_path / "latest.pt.partial")
    checkpoint(tmp_path / "latest.pt", 2)
    assert made.read_bytes() == before
