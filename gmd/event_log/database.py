"""The interface of the games' database, for other data that is stored there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection

_T = TypeVar("_T")


class Database(Protocol):
    """The games' database, for other data that is stored there."""

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Run work with a connection, in a thread.

        :raises gmd.event_log.interface.LogFailed: it failed.
        """

    async def write(self, work: Callable[[Connection], _T]) -> _T:
        """Run work in its own transaction, durably or not at all, between two batches of games.

        :raises gmd.event_log.interface.LogFailed: it failed; its message says if nobody knows what was written.
        """
