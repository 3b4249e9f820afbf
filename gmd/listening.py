"""Ports that are listened on."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

import trio

#: Connections the kernel may hold for us between two accepts.
BACKLOG = 1024


class CannotListen(OSError):
    """An address that cannot be listened on; ``strerror`` says why, for an unusable host name too."""


@asynccontextmanager
async def listening(
    host: str, port: int, sockets: Sequence[socket.socket]
) -> AsyncIterator[Sequence[trio.SocketListener]]:
    """Listeners on sockets that listen already, or where there are none, on an address; closed at the end.

    :raises CannotListen: the address cannot be listened on.
    """
    listeners = [trio.SocketListener(trio.socket.from_stdlib_socket(each)) for each in sockets]
    listeners = listeners or await _listeners(host, port)
    try:
        yield listeners
    finally:
        for listener in listeners:
            listener.socket.close()


async def _listeners(host: str, port: int) -> list[trio.SocketListener]:
    try:
        return await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
    except OSError as error:
        raise CannotListen(error.errno, error.strerror or str(error)) from error
    except UnicodeError as error:  # no host could have such a name
        raise CannotListen(errno.EINVAL, str(error)) from error


def is_local(listener: trio.SocketListener) -> bool:
    """Whether nobody but this machine's own users can reach it."""
    return _is_local_address(listener.socket.family, listener.socket.getsockname())


def will_be_local(host: str, sockets: Sequence[socket.socket]) -> bool:
    """Whether nobody but this machine's own users will reach what :func:`listening` listens on.

    A name other than localhost counts as reached from elsewhere: it is not looked up.
    """
    if sockets:
        return all(_is_local_address(each.family, each.getsockname()) for each in sockets)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_local_address(family: int, address: Any) -> bool:
    return family == socket.AF_UNIX or ip_address(address[0]).is_loopback
