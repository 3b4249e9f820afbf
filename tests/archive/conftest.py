"""Fixtures with a log; the tests of this package damage copies of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.archive.damaged_logs import Stored, made_in


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Return a log that the tests only read."""
    return made_in(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def data(stored: Stored, tmp_path: Path) -> Path:
    """Return a copy of the log, which the test may damage."""
    return shutil.copytree(stored.directory, tmp_path / "data")
