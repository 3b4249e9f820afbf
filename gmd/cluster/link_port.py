"""The port for links: connections to other daemons' ports, and those that come in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from .directory import Directory


def dial_by_tcp(directory: Directory) -> Callable[[int], Awaitable[trio.abc.Stream]]:
    """Return a function that connects to the port for links of a daemon.

    It raises OSError if the daemon cannot be reached, or is not among the living.
    """

    async def dial(daemon: int) -> trio.abc.Stream:
        peer = directory.peers().get(daemon)
        if peer is None:
            raise OSError(f"daemon {daemon} does not live")
        host, _, port = peer.link.rpartition(":")
        return await trio.open_tcp_stream(host.strip("[]"), int(port))

    return dial
