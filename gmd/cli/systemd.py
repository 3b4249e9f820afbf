"""What systemd, or anything that does as it does, tells a service and is told by it.

The rules are those of systemd's own sd_listen_fds(3) and sd_notify(3), without its library.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from itertools import zip_longest
from typing import NamedTuple

#: The first descriptor handed down.
FIRST = 3

#: The name of the HTTP side's sockets (``FileDescriptorName=`` in the socket unit); all others are the game port's.
HTTP = "http"


class Inherited(NamedTuple):
    """Listening sockets handed to this process: they are the caller's now, and nobody else's."""

    game: list[socket.socket]
    http: list[socket.socket]


class InheritedSocketError(Exception):
    """A descriptor that was handed down is of no use; the message says which and why."""


def inherited_sockets(environ: MutableMapping[str, str]) -> Inherited:
    """The listening sockets that the environment tells of.

    It is then made to tell of none: they are not meant for processes that this one may start.

    :raises InheritedSocketError: one of them is no listening TCP socket.
    """
    pid, count, names = (environ.pop(f"LISTEN_{name}", "") for name in ("PID", "FDS", "FDNAMES"))
    inherited = Inherited([], [])
    if pid == str(os.getpid()) and count.isdecimal():
        descriptors = range(FIRST, FIRST + int(count))
        for descriptor, name in zip_longest(descriptors, names.split(":")[: len(descriptors)]):
            (inherited.http if name == HTTP else inherited.game).append(_listening(descriptor))
    return inherited


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
    """Tell the service manager how this process is, as in ``READY=1``; where there is none, nobody.

    A manager that does not listen is not told either: it will say itself what it misses.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, suppress(OSError):
            manager.sendto(state.encode(), address.replace("@", "\0", 1))
