"""A proxy to a daemon that breaks connections at any byte and delays everything. It duplicates nothing."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

#: The longest delay of a chunk, in seconds.
LONGEST_DELAY = 0.002


class Chaos:
    """A proxy. The seed and the number of earlier connections decide what it does to a connection.

    :ivar target: the daemon's port; it may change.
    :ivar port: the proxy's own port.
    :ivar cuts: how many connections it has cut.
    """

    def __init__(self, seed: int, target: int, bytes_between_cuts: int) -> None:
        self._seed, self._mean = seed, bytes_between_cuts
        self.target = target
        self.port = 0
        self.cuts = 0
        self._connections = 0
        self.cut = trio.Event()  # set at each cut, and replaced

    async def serve(self, client: trio.SocketStream) -> None:
        """Carry one connection until either side ends it, or its budget of bytes is used up."""
        self._connections += 1
        rng = random.Random(f"{self._seed} {self._connections}")
        try:
            daemon = await trio.open_tcp_stream("127.0.0.1", self.target)
        except OSError:
            return await client.aclose()  # the daemon restarts
        async with client, daemon, trio.open_nursery() as nursery:
            # Either direction may be cut: then a request is lost, or the reply to a request that was carried out.
            for source, target in ((client, daemon), (daemon, client)):
                carry = _Carry(source, target, int(rng.expovariate(1 / self._mean)), random.Random(rng.random()))
                nursery.start_soon(self._run, carry, nursery.cancel_scope)
        return None

    async def _run(self, carry: _Carry, both: trio.CancelScope) -> None:
        if await carry.run():
            self.cuts += 1
            self.cut.set()
            self.cut = trio.Event()
        both.cancel()


class _Carry:
    """One direction of a connection, up to a given number of bytes."""

    def __init__(self, source: trio.SocketStream, target: trio.SocketStream, budget: int, rng: random.Random) -> None:
        self._source, self._target, self._budget, self._rng = source, target, budget, rng

    async def run(self) -> bool:
        """Carry bytes; return whether it ended because the budget was used up."""
        try:
            while self._budget > 0:
                data = await self._source.receive_some(min(self._budget, self._rng.choice([1, 4, 50, 1000])))
                if not data:
                    return False
                await trio.sleep(self._rng.random() * LONGEST_DELAY)
                await self._target.send_all(data)
                self._budget -= len(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        return True


@asynccontextmanager
async def chaos(seed: int, target: int, bytes_between_cuts: int) -> AsyncIterator[Chaos]:
    """Run a proxy to a port."""
    proxy = Chaos(seed, target, bytes_between_cuts)
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        proxy.port = listener.socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, proxy.serve, [listener])
        yield proxy
        nursery.cancel_scope.cancel()
