"""Folders that a test run fills once, whichever of its processes needs them first."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def filled_once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], None]) -> Path:
    """Return a folder that all processes of pytest-xdist share. While one fills it, the others wait.

    :param name: the folder's, one for each thing that is made.
    :param fill: is given the empty folder; if it fails, the next process begins anew.
    """
    base, run = factory.getbasetemp(), os.environ.get("PYTEST_XDIST_TESTRUNUID")
    folder = base / name if run is None else base.parent / f"{name}-{run}"
    done = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            fill(folder)
            done.touch()
    return folder
