"""Listening sockets, which outlive the daemons in a process, and the operator's; and accepting connections."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Self

import trio

#: Connections that the kernel may queue between two accepts.
BACKLOG = 1024
#: Connections accepted in one turn of the event loop: a client behind a crowd should not wait one turn for each of it.
AT_ONCE = 16
#: Errors of accept when the process or the machine has no room for a connection; and seconds to pause after one.
OUT_OF_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
PAUSE_SECONDS = 0.1
#: By version of the internet protocol: the family, an address that is nobody's (RFC 5737, RFC 3849), and loopback.
_OUTSIDE = {
    4: (socket.AF_INET, "192.0.2.1", "127.0.0.1"),
    6: (socket.AF_INET6, "2001:db8::1", "::1"),
}


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


def reachable(host: str) -> str:
    """Return an address by which a listener can be reached: that of this machine for one that listens on all of them.

    It is the one from which this machine reaches others; no packet is sent. Without a network it is loopback.
    """
    try:
        if not (address := ip_address(host)).is_unspecified:
            return host
    except ValueError:
        return host
    family, other, loopback = _OUTSIDE[address.version]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((other, 9))
            found: str = probe.getsockname()[0]
        except OSError:
            return loopback
    return found


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


class Sockets(NamedTuple):
    """Listening sockets of each port; where there are none, a daemon listens on the address of its configuration."""

    game: Sequence[socket.socket] = ()
    http: Sequence[socket.socket] = ()
    health: Sequence[socket.socket] = ()

    def duplicates(self) -> Self:
        """Return duplicates, which a daemon closes.

        :raises OSError: there are too few descriptors.
        """
        with ExitStack() as stack:
            made = type(self)(*([stack.enter_context(each.dup()) for each in port] for port in self))
            stack.pop_all()
            return made

    def close(self) -> None:
        """Close all."""
        for port in self:
            for each in port:
                each.close()


#: The file in the data directory.
SOCKET_NAME = "operator.sock"
#: Longest path of a socket's address in bytes: 108 on Linux, 104 on other systems, less a NUL at the end.
MAX_PATH = 103


@contextmanager
def short_path(path: Path) -> Iterator[str]:
    """Yield a path that fits into a socket's address: a long one goes through a descriptor of its directory.

    :raises OSError: the path is long, and this system has no /proc/self/fd; or its directory cannot be opened.
    """
    if len(os.fsencode(path)) <= MAX_PATH:
        yield str(path)
        return
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not Path(f"/proc/self/fd/{descriptor}").exists():
            raise OSError(f"its path is {len(os.fsencode(path))} bytes long; at most {MAX_PATH} are possible here")
        yield f"/proc/self/fd/{descriptor}/{path.name}"
    finally:
        os.close(descriptor)
