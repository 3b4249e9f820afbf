"""The protocols between a service and systemd, or a service manager that works like it.

The rules are those of sd_listen_fds(3) and sd_notify(3), implemented without systemd's library.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from itertools import zip_longest

from gmd.net.listening import Sockets

#: The first inherited descriptor.
FIRST = 3

#: The name of the HTTP sockets (``FileDescriptorName=`` in the socket unit); all others are the game port's.
HTTP = "http"


class InheritedSocketError(Exception):
    """Raised for an inherited descriptor that cannot be used; the message says which and why."""


def inherited_sockets(environ: MutableMapping[str, str]) -> Sockets:
    """Return the inherited listening sockets that the environment names; the caller owns them.

    The variables are removed, so that child processes do not take the sockets for theirs.

    :raises InheritedSocketError: one of them is not a listening TCP socket.
    """
    pid, count, names = (environ.pop(f"LISTEN_{name}", "") for name in ("PID", "FDS", "FDNAMES"))
    game: list[socket.socket] = []
    http: list[socket.socket] = []
    if pid == str(os.getpid()) and count.isdecimal():
        descriptors = range(FIRST, FIRST + int(count))
        for descriptor, name in zip_longest(descriptors, names.split(":")[: len(descriptors)]):
            (http if name == HTTP else game).append(_listening(descriptor))
    return Sockets(game, http)


def _listening(descriptor: int) -> socket.socket:
    try:
        os.set_inheritable(descriptor, False)
        found = socket.socket(fileno=descriptor)
    except OSError as error:
        raise InheritedSocketError(f"LISTEN_FDS: descriptor {descriptor}: {error.strerror}") from error
    is_tcp = found.family in (socket.AF_INET, socket.AF_INET6) and found.type == socket.SOCK_STREAM
    if not is_tcp or not found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        raise InheritedSocketError(f"LISTEN_FDS: descriptor {descriptor} is not a listening TCP socket: {found}")
    return found


def notify(state: str, environ: Mapping[str, str]) -> None:
    """Report this process's state to the service manager, as in ``READY=1``; do nothing where there is none.

    Failures are ignored: a manager that misses the message reports that itself.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, suppress(OSError):
            manager.sendto(state.encode(), address.replace("@", "\0", 1))
