"""Listening on ports and accepting connections."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any, NoReturn

import trio

#: Connections that the kernel may queue between two accepts.
BACKLOG = 1024
#: Connections accepted in one turn of the event loop: a client behind a crowd should not wait one turn for each of it.
AT_ONCE = 16
#: Errors of accept when the process or the machine has no room for a connection; and seconds to pause after one.
OUT_OF_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
PAUSE_SECONDS = 0.1


class CannotListen(OSError):
    """An error: the daemon cannot listen on an address. ``strerror`` says why, for an unusable host name, too."""


async def bound(host: str, port: int) -> list[socket.socket]:
    """Return new listening sockets on an address, which outlive the daemons that are given duplicates of them.

    :raises CannotListen: listening on the address has failed.
    """
    return [socket.socket(fileno=listener.socket.detach()) for listener in await _listeners(host, port)]


@asynccontextmanager
async def listening(
    host: str, port: int, sockets: Sequence[socket.socket]
) -> AsyncIterator[Sequence[trio.SocketListener]]:
    """Open listeners on the given listening sockets or, if there are none, on an address; close them at the end.

    :raises CannotListen: listening on the address has failed.
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
    except UnicodeError as error:  # not a valid host name
        raise CannotListen(errno.EINVAL, str(error)) from error


async def accept(
    listener: trio.SocketListener, begin: Callable[[trio.SocketStream], None], note_short: Callable[[OSError], None]
) -> NoReturn:
    """Accept connections until cancelled.

    Unlike :func:`trio.serve_listeners`, it accepts several in one turn of the event loop.

    :param begin: called with each connection.
    :param note_short: called with the error when there is no room for a connection; accept is retried after a pause.
    """
    await trio.lowlevel.checkpoint()  # if the task was cancelled before it began, its listener may be closed already
    ours = listener.socket
    bare = socket.socket(ours.family, ours.type, ours.proto, fileno=ours.fileno())  # it accepts without blocking
    try:
        while True:
            await trio.lowlevel.wait_readable(ours)
            try:
                for _ in range(AT_ONCE):
                    begin(trio.SocketStream(trio.socket.from_stdlib_socket(bare.accept()[0])))
            except (BlockingIOError, ConnectionAbortedError):
                pass  # no more connections wait, or one has gone already
            except OSError as error:
                if error.errno not in OUT_OF_ROOM:
                    raise
                note_short(error)
                await trio.sleep(PAUSE_SECONDS)
    finally:
        bare.detach()  # the listener closes it


def is_local(listener: trio.SocketListener) -> bool:
    """Return whether only this machine's users can reach a listener."""
    return _is_local_address(listener.socket.family, listener.socket.getsockname())


def will_be_local(host: str, sockets: Sequence[socket.socket]) -> bool:
    """Return whether only this machine's users will reach what :func:`listening` listens on.

    Names are not resolved: any name but localhost counts as reachable from other machines.
    """
    if sockets:
        return all(_is_local_address(each.family, each.getsockname()) for each in sockets)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_local_address(family: int, address: Any) -> bool:
    return family == socket.AF_UNIX or ip_address(address[0]).is_loopback
