"""A log that all tests of this room damage copies of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.repair.logs import Stored, made_in


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """A log, to be read only."""
    return made_in(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def data(stored: Stored, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return shutil.copytree(stored.directory, tmp_path / "data")
