"""The requests that are being answered in each shard, so that a shard can be handed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Collection, Sequence
from typing import TypeVar

import trio

from gm_protocol.errors import Moved

_T = TypeVar("_T")


class InProgress:
    """Waits, which are ended for a hand-over and asked again of the next owner, and other requests, which finish."""

    def __init__(self) -> None:
        self._waits: dict[int, set[trio.CancelScope]] = {}
        self._others: Counter[int] = Counter()
        self._one_less = trio.Event()

    async def wait(self, shards: Sequence[int], answer: Awaitable[_T]) -> _T:
        """Answer a ``wait``.

        :raises Moved: one of its shards is handed over.
        """
        with trio.CancelScope() as scope:
            for shard in shards:
                self._waits.setdefault(shard, set()).add(scope)
            try:
                return await answer
            finally:
                for shard in shards:
                    self._forget(shard, scope)
        raise Moved("its game is handed over to another server; send it again")

    def _forget(self, shard: int, scope: trio.CancelScope) -> None:
        scopes = self._waits[shard]
        scopes.discard(scope)
        if not scopes:
            del self._waits[shard]

    async def other(self, shards: Sequence[int], answer: Awaitable[_T]) -> _T:
        """Answer any other request."""
        self._others.update(shards)
        try:
            return await answer
        finally:
            self._others.subtract(shards)
            self._one_less.set()
            self._one_less = trio.Event()

    async def finish(self, shards: Collection[int]) -> None:
        """End the waits in shards, and return when the other requests in them are done. No new ones must begin."""
        for shard in shards:
            for scope in [*self._waits.get(shard, ())]:
                scope.cancel()
        while any(self._others[shard] or shard in self._waits for shard in shards):
            if not any(self._others[shard] for shard in shards):
                await trio.lowlevel.checkpoint()  # the waits end at their next turn
            else:
                await self._one_less.wait()
