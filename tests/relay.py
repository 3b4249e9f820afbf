"""A relay of TCP connections, which a test cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import trio

#: An address: host and port.
Address = tuple[str, int]


class Relay:
    """Listens on an address, and carries each connection to the first of its targets that takes it.

    :ivar open: whether it carries anything. While it is false, new connections are closed at once.
    """

    def __init__(self, targets: Callable[[], Sequence[Address]]) -> None:
        """:param targets: returns the targets for a new connection, the best first."""
        self.open = True
        self._targets = targets
        self._carried: set[trio.CancelScope] = set()

    async def run(self, host: str, port: int, *, task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED) -> None:
        """Carry connections until cancelled; the status is the port."""
        [listener] = await trio.open_tcp_listeners(port, host=host)
        task_status.started(listener.socket.getsockname()[1])
        await trio.serve_listeners(self._serve, [listener])

    def cut(self) -> None:
        """Break all connections, and carry no new ones until :meth:`mend`."""
        self.open = False
        for scope in self._carried:
            scope.cancel()

    def mend(self) -> None:
        """Carry new connections again."""
        self.open = True

    async def _serve(self, near: trio.SocketStream) -> None:
        far = await self._connected() if self.open else None
        if far is None:
            await trio.aclose_forcefully(near)
            return
        with trio.CancelScope() as scope:
            self._carried.add(scope)
            try:
                async with trio.open_nursery() as nursery:
                    for source, target in ((near, far), (far, near)):
                        nursery.start_soon(partial(_carry, source, target, nursery.cancel_scope))
            finally:
                self._carried.discard(scope)
                for stream in (near, far):
                    stream.socket.close()

    async def _connected(self) -> trio.SocketStream | None:
        for host, port in self._targets():
            try:
                return await trio.open_tcp_stream(host, port)
            except OSError:
                continue
        return None


async def _carry(source: trio.SocketStream, target: trio.SocketStream, both: trio.CancelScope) -> None:
    try:
        while data := await source.receive_some(65_536):
            await target.send_all(data)
        await target.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        both.cancel()
