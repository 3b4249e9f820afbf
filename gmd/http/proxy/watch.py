"""Ends of what depends on a daemon, when that daemon is gone or what it owns is another's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import trio

from gmd.cluster.directory import Directory


class Watch:
    """The streams and requests that end when the map of owners changes. It has to run."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        #: Streams, with the shard that each shows and its owner; and requests, with the daemon that is asked.
        self._streams: dict[trio.CancelScope, tuple[int, int]] = {}
        self._asks: dict[trio.CancelScope, int] = {}

    async def run(self) -> NoReturn:
        """Follow the map until cancelled."""
        while True:
            await self._directory.changed()
            self._look()

    @contextmanager
    def stream(self, shard: int, owner: int) -> Iterator[trio.CancelScope]:
        """Cancel the block when a shard has another owner than this."""
        with trio.CancelScope() as scope:
            self._streams[scope] = shard, owner
            try:
                if self._directory.owner_of(shard) != owner:
                    scope.cancel()
                yield scope
            finally:
                del self._streams[scope]

    @contextmanager
    def asking(self, daemon: int) -> Iterator[trio.CancelScope]:
        """Cancel the block when a daemon does not live any more."""
        with trio.CancelScope() as scope:
            self._asks[scope] = daemon
            try:
                yield scope
            finally:
                del self._asks[scope]

    def _look(self) -> None:
        owner_of, living = self._directory.owner_of, self._directory.peers()
        for scope, (shard, owner) in self._streams.items():
            if owner_of(shard) != owner:
                scope.cancel()
        for scope, daemon in self._asks.items():
            if daemon not in living:
                scope.cancel()
