"""Ports that are listened on."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any, NoReturn

import trio

#: Connections the kernel may hold for us between two accepts.
BACKLOG = 1024
#: Connections accepted in one turn of the event loop: whoever is behind a crowd is not to wait a turn for each of it.
AT_ONCE = 16
#: What accepting fails with where the process or the machine has no room for a connection; and for how long to pause.
OUT_OF_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
PAUSE_SECONDS = 0.1


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


async def accept(
    listener: trio.SocketListener, begin: Callable[[trio.SocketStream], None], note_short: Callable[[OSError], None]
) -> NoReturn:
    """Accept connections until cancelled.

    It differs from :func:`trio.serve_listeners`, which accepts one in a turn of the event loop.

    :param begin: is given each of them.
    :param note_short: is told when there is no room for one; it is tried again after a pause.
    """
    await trio.lowlevel.checkpoint()  # whoever is cancelled before it begins may have its listener closed already
    ours = listener.socket
    bare = socket.socket(ours.family, ours.type, ours.proto, fileno=ours.fileno())  # it accepts without waiting
    try:
        while True:
            await trio.lowlevel.wait_readable(ours)
            try:
                for _ in range(AT_ONCE):
                    begin(trio.SocketStream(trio.socket.from_stdlib_socket(bare.accept()[0])))
            except (BlockingIOError, ConnectionAbortedError):
                pass  # that were all, or one has gone already
            except OSError as error:
                if error.errno not in OUT_OF_ROOM:
                    raise
                note_short(error)
                await trio.sleep(PAUSE_SECONDS)
    finally:
        bare.detach()  # the listener closes it


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
