"""Passwords: hashed and verified with argon2id, off the event loop and few at a time."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from gmd.event_log.workers import Workers
from gmd.players.fair_queue import OURSELVES, FairQueue, QueuedClient

if TYPE_CHECKING:
    from argon2 import PasswordHasher

_T = TypeVar("_T")

#: RFC 9106's second recommendation: three passes over 64 MiB, some 150 ms of one core here.
PASSES, MEMORY_KIB, LANES = 3, 65_536, 4
SALT_SIZE, HASH_SIZE = 16, 32
#: Comparisons at a time, limited by their memory: 128 MiB.
AT_A_TIME = 2


def load_argon2() -> None:
    """Import argon2 early, at a moment when file descriptors and the some 50 ms it takes are available."""
    import argon2  # noqa: F401 - its modules stay loaded


class Passwords:
    """Hashes passwords and compares them with hashes; requests wait in a fair queue while the threads are busy.

    :ivar verified: the number of comparisons so far.
    """

    def __init__(
        self,
        passes: int = PASSES,
        memory_kib: int = MEMORY_KIB,
        max_waiting: int = 1_024,
        max_waiting_of_one: int = 64,
    ) -> None:
        """:param passes: with the memory, determines the cost of a comparison.
        :param max_waiting: the most requests waiting; this default and the next are as in :class:`gmd.config.Config`.
        :param max_waiting_of_one: the most requests waiting from one address.
        """
        self._passes = passes
        self._memory_kib = memory_kib
        self._workers = Workers(AT_A_TIME, "gmd passwords")
        self._queue = FairQueue("max_waiting_passwords", AT_A_TIME, max_waiting, max_waiting_of_one)
        #: A hash that no password has; a comparison with it takes as long as with any other.
        self._decoy = self._random_hash()
        self.verified = 0

    async def hash(self, password: str, client: QueuedClient = OURSELVES) -> str:
        """Return the hash of a password.

        :raises TooMany: too many are waiting already; nothing was hashed.
        """
        return await self._in_thread(client, self._hash, password)

    async def verify(self, stored: str | None, password: str, client: QueuedClient = OURSELVES) -> bool:
        """Return whether a password has this hash; without a hash, False after the same time.

        :raises TooMany: too many are waiting already; nothing was compared.
        """
        matches = await self._in_thread(client, self._matches, stored or self._decoy, password)
        self.verified += 1
        return matches and stored is not None

    def close(self) -> None:
        """End the threads; no further request may come."""
        self._workers.close()

    async def _in_thread(self, client: QueuedClient, function: Callable[..., _T], *arguments: str) -> _T:
        async with self._queue.turn(client):
            return await self._workers.run(function, *arguments)

    def _hasher(self) -> PasswordHasher:
        from argon2 import PasswordHasher, Type  # most embedded daemons never see a password

        return PasswordHasher(self._passes, self._memory_kib, LANES, HASH_SIZE, SALT_SIZE, type=Type.ID)

    def _hash(self, password: str) -> str:
        return self._hasher().hash(password.encode())

    def _matches(self, stored: str, password: str) -> bool:
        from argon2.exceptions import VerifyMismatchError

        try:
            return self._hasher().verify(stored, password.encode())
        except VerifyMismatchError:
            return False

    def _random_hash(self) -> str:
        """Return a random hash in argon2's format, made without running argon2."""
        salt, value = (b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (SALT_SIZE, HASH_SIZE))
        return f"$argon2id$v=19$m={self._memory_kib},t={self._passes},p={LANES}${salt}${value}"
