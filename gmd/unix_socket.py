"""The operator's socket, by its path: what the daemon that makes it and the commands that use it share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The file in the data directory.
SOCKET_NAME = "operator.sock"
#: Bytes of a path that an address has room for: 108 on Linux, 104 on others, with a NUL at its end.
MAX_PATH = 103


@contextmanager
def short_path(path: Path) -> Iterator[str]:
    """The path as it fits into a socket's address: a long one by way of a descriptor of its directory.

    :raises OSError: it is long, and this system has no /proc/self/fd; or its directory cannot be opened.
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
