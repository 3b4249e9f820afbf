"""The data directory, and the lock that keeps a second daemon out of it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Held by whoever works in the directory; its text is that process's id. It stays behind, for only the lock counts.
LOCK_NAME = "lock"


class DataError(Exception):
    """A data directory that cannot be used. The message says which and why, for whoever starts the daemon."""


@contextmanager
def locked_directory(path: Path) -> Iterator[None]:
    """Work in a directory alone; it is made where it is not there, for its owner's eyes only.

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
        yield
    finally:
        os.close(descriptor)  # and with it the lock


def _lock(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "that has not said its id"
        raise DataError(f"data: {path} is in use by another gmd: process {holder}") from None
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise DataError(f"data: {path} cannot be written: {error.strerror}") from error
