"""The listening sockets of a process, which outlive the daemons in it: a superseded one waits and serves again."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple, Self


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
