"""The lock of a file that one process writes and a later one continues."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gm_arena import file_lock


def test_lock_waits_for_a_process_that_was_just_being_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, tell = os.pipe()
    with (tmp_path / "record").open("wb") as held:
        assert file_lock.lock(held)
        if not (started := os.fork()):  # has the lock, too, as between fork and exec
            os.close(tell)
            os.read(told, 1)
            os._exit(0)
    os.close(told)
    waits = []

    def let_it_run(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 1:
            os.close(tell)
            os.waitpid(started, 0)

    monkeypatch.setattr(file_lock.time, "sleep", let_it_run)
    with (tmp_path / "record").open("wb") as file:
        assert file_lock.lock(file)
    assert waits == [file_lock.LOOK_SECONDS]
