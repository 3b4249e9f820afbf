"""The operator's socket: a Unix socket in the data directory, for users with the right to open it.

It speaks the same protocol; every session on it is the operator's (:class:`~gmd.handlers.context.Authority`).
"""

from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import trio

from gmd.logger import get_logger
from gmd.net.listening import SOCKET_NAME, short_path

logger = get_logger(__name__)

#: Connections that the kernel may hold between two accepts.
BACKLOG = 16


@contextmanager
def operator_listener(directory: Path | None, name: str = SOCKET_NAME) -> Iterator[trio.SocketListener | None]:
    """Listen in a data directory that this process has locked, and remove the socket at the end.

    The listener is None without a directory, and on a file system without sockets, which is logged: then the operator
    cannot connect; players still can.
    """
    if directory is None:
        yield None
        return
    path = directory / name
    try:
        listener = _listen(path)
    except OSError as error:
        logger.warning("no operator's socket", path=str(path), reason=error.strerror or str(error))
        yield None
        return
    with listener.socket:
        try:
            yield listener
        finally:
            with suppress(OSError):
                path.unlink()


def _listen(path: Path) -> trio.SocketListener:
    """Return a listening socket that only its owner may connect to, from the first moment on.

    :raises OSError: there cannot be one, or something else is in its place.
    """
    _clear(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_path(path) as address:
            listener.bind(address)
        path.chmod(0o600)
        listener.listen(BACKLOG)  # before this the kernel refuses all connections
    except BaseException:
        listener.close()
        raise
    return trio.SocketListener(trio.socket.from_stdlib_socket(listener))


def _clear(path: Path) -> None:
    """Remove the socket of a daemon that was killed: the lock on the directory proves that it is gone."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise OSError("something else is in its place; move it away")
        path.unlink()
