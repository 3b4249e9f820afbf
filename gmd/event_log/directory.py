"""The data directory, and the lock that keeps a second daemon out of it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Held by whoever works in the directory; its text is that process's id. It stays behind, for only the lock counts.
LOCK_NAME = "lock"
#: Seconds that are waited for what a daemon that was killed has left to write: a batch, and the disk under it.
LAST_BATCH_SECONDS = 30.0
#: Seconds between two looks at whether it is done.
LOOK_SECONDS = 0.01


class DataError(Exception):
    """A data directory that cannot be used. The message says which and why, for whoever starts the daemon."""


@contextmanager
def locked_directory(path: Path) -> Iterator[int]:
    """Work in a directory alone; it is made where it is not there, for its owner's eyes only.

    The value is the descriptor of the lock, which holds until all who have that have closed it.

    :raises DataError: another process works in it, or it cannot be made or written.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise DataError(f"data: {path} is a file: name a directory, which is made where there is none") from error
    except OSError as error:
        raise DataError(f"data: {path} cannot be used: {error.strerror}") from error
    try:
        _lock(path, descriptor)
        yield descriptor
    finally:
        os.close(descriptor)  # and with it the lock


def _lock(path: Path, descriptor: int) -> None:
    patience = time.monotonic() + LAST_BATCH_SECONDS
    while not _is_locked(descriptor):
        holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
        if _is_there(holder) or time.monotonic() > patience:
            whose = holder or "that has not said its id"
            raise DataError(f"data: {path} is in use by another gmd: process {whose}")
        time.sleep(LOOK_SECONDS)  # the daemon was killed, and the process that commits for it is not done
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise DataError(f"data: {path} cannot be written: {error.strerror}") from error


def _is_locked(descriptor: int) -> bool:
    """Whether the lock is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_there(holder: str) -> bool:
    """Whether the process that has the lock is there; one that has not said its id is taken to be."""
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, OSError):  # it has not said its id, or is another user's
        return True
    return True
