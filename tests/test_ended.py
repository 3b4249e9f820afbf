"""A process ends with its block, also after a failure."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.ended import ended


def test_process_is_killed_after_a_failure() -> None:
    process = subprocess.Popen(["sleep", "infinity"])
    with pytest.raises(subprocess.TimeoutExpired), ended(process):
        process.wait(0.01)
    assert process.returncode == -signal.SIGKILL


def test_process_that_has_ended_keeps_its_status() -> None:
    with ended(subprocess.Popen(["sh", "-c", "exit 3"])) as process:
        process.wait()
    assert process.returncode == 3
