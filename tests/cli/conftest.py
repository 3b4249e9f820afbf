"""Fixtures with a log that several tests begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.commands import filled


@pytest.fixture(scope="session")
def played_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with games of many kinds. Tests must not change it."""
    return filled(tmp_path_factory.mktemp("played"))


@pytest.fixture
def data(played_data: Path, tmp_path: Path) -> Path:
    """Return a copy of that data directory, which the test may damage."""
    return shutil.copytree(played_data, tmp_path / "data")
