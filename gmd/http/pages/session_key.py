"""The key that signs the cookies of visitors, and the ended cookies of guests and spectators, which have no account.

Both are one value: the key, and :data:`RECORD` bytes for each cookie, the latest last. It is a file of the data
directory, or a secret in PostgreSQL, and goes into exports of the whole log.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import trio

from gmd.event_log.directory import SESSION_KEY, DataError, write_private
from gmd.event_log.interface import LogFailed
from gmd.logger import get_logger
from gmd.players.account import ENDED_SIZE

logger = get_logger(__name__)

#: The size of the key in bytes; and of an ended cookie: whether it was an overseer's, and its digest.
SIZE, RECORD = 32, 1 + ENDED_SIZE
#: The most ended cookies of guests that are stored, and of spectators who have shown the key.
MOST_STORED = 10_000
#: The name of the secret in PostgreSQL.
SECRET = "pages"


class SessionKey:
    """The key, and the ended cookies.

    :ivar secret: the key of the signatures; every cookie ends with it.
    """

    def __init__(self, value: bytes, store: Callable[[bytes], object]) -> None:
        """:param store: stores another value durably, in a thread; it raises an error if that failed."""
        self.secret, ended = value[:SIZE], value[SIZE:]
        self._store = store
        self._ended = dict.fromkeys(ended[start : start + RECORD] for start in range(0, len(ended), RECORD))
        self._storing = trio.Lock()

    def has_ended(self, digest: bytes, *, oversees: bool) -> bool:
        """Return whether a guest's cookie was ended, or that of a spectator who has shown the key."""
        return bytes((oversees,)) + digest in self._ended

    async def end(self, digest: bytes, *, oversees: bool) -> None:
        """Make a cookie worthless for good.

        :raises LogFailed: storing that failed, and it stays valid; or it may have.
        """
        async with self._storing:
            with trio.CancelScope(shield=True):
                ended = [*self._ended, bytes((oversees,)) + digest]
                same = [record for record in ended if record[0] == oversees]
                if len(same) > MOST_STORED:
                    ended.remove(same[0])
                try:
                    await trio.to_thread.run_sync(self._store, b"".join((self.secret, *ended)))
                except Exception as error:
                    logger.error("an ended cookie cannot be stored", error=str(error).strip())
                    raise LogFailed("the end of the session cannot be stored; try again") from error
                self._ended = dict.fromkeys(ended)


def session_key(directory: Path | None, database: str | None = None, term: int = 0) -> SessionKey:
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
        return SessionKey(secrets.token_bytes(SIZE), bool)
    file = directory / SESSION_KEY
    try:
        if not file.exists():
            write_private(file, secrets.token_bytes(SIZE))
        value = file.read_bytes()
    except OSError as error:
        raise DataError(f"data: {file} cannot be used: {error.strerror}") from error
    if len(value) % RECORD != SIZE % RECORD or len(value) < SIZE:
        raise DataError(f"data: {file} has {len(value)} bytes, which is no key; remove it, and visitors sign in again")

    def store(value: bytes) -> None:
        if file.exists():  # an operator who has removed it wants no cookie to be valid after the next start
            write_private(file, value)

    return SessionKey(value, store)


def _shared(database: str, term: int) -> SessionKey:
    import psycopg

    from gmd.event_log.postgres_connection import replace_secret, shared_secret

    try:
        value = shared_secret(database, term, SECRET)
    except psycopg.Error as error:
        raise DataError(f"database: it cannot be used: {str(error).strip()}") from error
    return SessionKey(value, lambda value: replace_secret(database, term, SECRET, value))
