"""Client of a daemon in memory, for tests that need no second one and nothing of the daemon."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.helpers import Client, memory_daemon


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """Yield a version 2 session of a daemon without games."""
    async with memory_daemon() as daemon:
        yield await daemon.connect()
