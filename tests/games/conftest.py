"""A client of a daemon in memory: the rules are proven through the protocol, as a player would meet them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.helpers import Client, memory_daemon


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """A version 2 session of a daemon that has no games yet."""
    async with memory_daemon() as daemon:
        yield await daemon.connect()
