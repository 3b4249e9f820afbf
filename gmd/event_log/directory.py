"""The data directory, and the lock that keeps a second daemon out of it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The file locked by the process that works in the directory; its text is the process id. The file itself stays behind,
#: because only the lock counts.
LOCK_NAME = "lock"
#: The files with the token of the bots' registrations, and with the key that signs visitors' cookies.
BOTS_TOKEN = "bots.token"
SESSION_KEY = "session-key"
#: Seconds to wait until the last batch of a daemon that was killed is on disk.
LAST_BATCH_SECONDS = 30.0
#: Seconds between two checks whether it is.
LOOK_SECONDS = 0.01


class DataError(Exception):
    """A data directory that cannot be used. The message says which and why, for the operator."""


class DatabaseLost(DataError):
    """The connection to the database was lost, as while it restarts."""


def write_private(file: Path, content: bytes) -> None:
    """Write a file durably, readable by its owner only; a crash leaves the whole file, or what was there before.

    :raises OSError: it cannot be written.
    """
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as writing:
        writing.write(content)
        writing.flush()
        os.fsync(writing.fileno())
    new.replace(file)


@contextmanager
def locked_directory(path: Path) -> Iterator[int]:
    """Lock a directory for this process; create it if it does not exist, readable by its owner only.

    The value is the lock's descriptor. The lock holds until all processes that have the descriptor have closed it.

    :raises DataError: another process holds the lock, or the directory cannot be created or written.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise DataError(f"data: {path} is a file: name a directory, which is created if it does not exist") from error
    except OSError as error:
        raise DataError(f"data: {path} cannot be used: {error.strerror}") from error
    try:
        _lock(path, descriptor)
        yield descriptor
    finally:
        os.close(descriptor)  # releases the lock


def _lock(path: Path, descriptor: int) -> None:
    patience = time.monotonic() + LAST_BATCH_SECONDS
    while not _is_locked(descriptor):
        holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
        if _is_there(holder) or time.monotonic() > patience:
            whose = holder or "of unknown id"
            raise DataError(
                f"data: {path} is in use by another gmd: process {whose}; name another directory with --data"
            )
        time.sleep(LOOK_SECONDS)  # the daemon was killed, and its committing process is not done yet
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise DataError(f"data: {path} cannot be written: {error.strerror}") from error


def _is_locked(descriptor: int) -> bool:
    """Return whether the lock is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_there(holder: str) -> bool:
    """Return whether the process that holds the lock exists; one that has not written its id counts as existing."""
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, OSError):  # it has not written its id, or belongs to another user
        return True
    return True
