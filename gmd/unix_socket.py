"""The path of the operator's socket, for the daemon that creates it and the commands that connect to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
