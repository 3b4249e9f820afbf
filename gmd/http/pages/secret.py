"""The key that signs visitors' cookies. It is kept in the data directory, so that a restart ends no session."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from gmd.event_log.directory import DataError

#: The file in the data directory, and the size of the key in bytes.
FILE_NAME = "session-key"
SIZE = 32


def session_key(directory: Path | None) -> bytes:
    """Return the key of a data directory, which is made at the first start; a new one where games are in memory.

    Removing the file signs all visitors out.

    :param directory: the data directory, locked for this process; None for none.
    :raises DataError: the file cannot be read or made.
    """
    if directory is None:
        return secrets.token_bytes(SIZE)
    file = directory / FILE_NAME
    try:
        return _made(file) if not file.exists() else _read(file)
    except OSError as error:
        raise DataError(f"data: {file} cannot be used: {error.strerror}") from error


def _read(file: Path) -> bytes:
    key = file.read_bytes()
    if len(key) != SIZE:
        raise DataError(f"data: {file} has {len(key)} bytes instead of {SIZE}; remove it, and visitors sign in again")
    return key


def _made(file: Path) -> bytes:
    """Write a new key, readable by its owner only; a crash leaves the whole file or none."""
    key, beside = secrets.token_bytes(SIZE), file.with_suffix(".new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as writing:
        writing.write(key)
        writing.flush()
        os.fsync(descriptor)
    beside.rename(file)
    return key
