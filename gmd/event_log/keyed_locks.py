"""Locks by key, for work that concurrent callers should do only once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

import trio


class KeyedLocks:
    """A lock for every key that a task holds or waits for."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, trio.Lock] = {}

    @asynccontextmanager
    async def hold(self, key: Hashable) -> AsyncIterator[None]:
        """Hold the lock of a key. A task that had to wait should check whether its work has been done meanwhile."""
        lock = self._locks.setdefault(key, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._locks.pop(key, None)
