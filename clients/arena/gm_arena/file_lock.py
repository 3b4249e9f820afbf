"""The lock of a file that one process writes and a later one continues."""

from __future__ import annotations

import fcntl
import time
from typing import IO

#: Seconds to wait for a lock. A process that is killed while it starts another leaves the lock to that one, which gives
#: it up when it runs its program: long after, on a busy machine.
PATIENCE_SECONDS = 5.0
#: Seconds between two tries.
LOOK_SECONDS = 0.02


def lock(file: IO[bytes]) -> bool:
    """Lock a file for as long as it is open; return whether that was possible, or another process keeps it locked."""
    patience = time.monotonic() + PATIENCE_SECONDS
    while not _is_locked(file):
        if time.monotonic() > patience:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _is_locked(file: IO[bytes]) -> bool:
    """Return whether the lock is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
