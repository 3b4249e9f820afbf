"""Fixtures that the embedding tests share."""

from __future__ import annotations

import pytest

import gmd


@pytest.fixture(scope="session", autouse=True)
def _loaded() -> None:
    """Load everything that a daemon loads, so that no test sees the descriptors and threads of first imports."""
    with gmd.background_daemon():
        pass
