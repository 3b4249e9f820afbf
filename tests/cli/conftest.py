"""A log that several tests begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.commands import filled


@pytest.fixture(scope="session")
def played_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with games of many kinds, to be read only."""
    return filled(tmp_path_factory.mktemp("played"))


@pytest.fixture
def data(played_data: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    return shutil.copytree(played_data, tmp_path / "data")
