"""Passwords: hashed and verified with argon2id, off the event loop and few at a time."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from gmd.event_log.workers import Workers

from .fair_queue import OURSELVES, FairQueue, QueuedClient

if TYPE_CHECKING:
    from argon2 import PasswordHasher

_T = TypeVar("_T")

#: RFC 9106's second recommendation: three passes over 64 MiB, some 150 ms of one core here.
PASSES, MEMORY_KIB, LANES = 3, 65_536, 4
SALT_SIZE, HASH_SIZE = 16, 32
#: At a time, for the memory's sake: 128 MiB.
AT_A_TIME = 2


def load_argon2() -> None:
    """Import what passwords need, while there are descriptors and patience for it: some 50 ms."""
    import argon2  # noqa: F401 - its modules stay loaded


class Passwords:
    """Makes hashes of passwords and compares with them; whoever finds the threads busy waits in a fair queue.

    :ivar verified: how many comparisons there have been.
    """

    def __init__(
        self,
        passes: int = PASSES,
        memory_kib: int = MEMORY_KIB,
        max_waiting: int = 1_024,
        max_waiting_of_one: int = 64,
    ) -> None:
        """:param passes: together with the memory, what every comparison costs.
        :param max_waiting: how many may wait; by default as in :class:`gmd.config.Config`, as is the next one.
        :param max_waiting_of_one: how many of one address may.
        """
        self._passes = passes
        self._memory_kib = memory_kib
        self._workers = Workers(AT_A_TIME, "gmd passwords")
        self._queue = FairQueue("max_waiting_passwords", AT_A_TIME, max_waiting, max_waiting_of_one)
        #: A hash of nothing that anybody knows; comparing with it takes as long as with any other.
        self._nobodys = self._random_hash()
        self.verified = 0

    async def hash(self, password: str, client: QueuedClient = OURSELVES) -> str:
        """What is kept of a password.

        :raises TooMany: too many are waiting for this already; it was not hashed.
        """
        return await self._in_thread(client, self._hash, password)

    async def verify(self, stored: str | None, password: str, client: QueuedClient = OURSELVES) -> bool:
        """Whether it is the password of a hash; where there is none, it takes as long to say no.

        :raises TooMany: too many are waiting for this already; it was not compared.
        """
        matches = await self._in_thread(client, self._matches, stored or self._nobodys, password)
        self.verified += 1
        return matches and stored is not None

    def close(self) -> None:
        """End the threads, when nobody asks any more."""
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
        """A hash as argon2 writes them, made without the work."""
        salt, value = (b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (SALT_SIZE, HASH_SIZE))
        return f"$argon2id$v=19$m={self._memory_kib},t={self._passes},p={LANES}${salt}${value}"
