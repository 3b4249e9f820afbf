"""The key that signs visitors' cookies. It is kept with the games, so that a restart ends no session."""

from __future__ import annotations

import secrets
from pathlib import Path

from gmd.event_log.directory import SESSION_KEY, DataError, write_private

#: The size of the key in bytes.
SIZE = 32


def session_key(directory: Path | None, database: str | None = None, term: int = 0) -> bytes:
    """Return the key, which is made at the first start; a new one where games are in memory. Block for a moment.

    Removing the file signs all visitors out.

    :param directory: the data directory, locked for this process; None for none.
    :param database: the URL of the database that has the games, and so the key; None for none.
    :param term: that under which this daemon serves the database.
    :raises DataError: the key cannot be read or made.
    """
    if database is not None:
        return _shared(database, term)
    if directory is None:
        return secrets.token_bytes(SIZE)
    file = directory / SESSION_KEY
    try:
        if not file.exists():
            write_private(file, secrets.token_bytes(SIZE))
        return _read(file)
    except OSError as error:
        raise DataError(f"data: {file} cannot be used: {error.strerror}") from error


def _shared(database: str, term: int) -> bytes:
    import psycopg

    from gmd.event_log.postgres_connection import shared_secret

    try:
        return shared_secret(database, term, "pages")
    except psycopg.Error as error:
        raise DataError(f"database: it cannot be used: {str(error).strip()}") from error


def _read(file: Path) -> bytes:
    key = file.read_bytes()
    if len(key) != SIZE:
        raise DataError(f"data: {file} has {len(key)} bytes instead of {SIZE}; remove it, and visitors sign in again")
    return key
