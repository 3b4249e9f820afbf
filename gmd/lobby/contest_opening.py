"""The store of contests that belongs to an event log, and the one in memory, which ends with the process."""

from __future__ import annotations

from collections.abc import Sequence

from gmd.event_log.interface import EventLog
from gmd.lobby.contests import Contest, ContestStore


class MemoryContests:
    """A store of contests that keeps nothing: the book has them all in memory anyway."""

    async def load(self) -> list[Contest]:
        return []

    async def newest_id(self) -> int:
        return 0

    async def write(self, changed: Sequence[Contest], gone: Sequence[int]) -> None:
        return


def contest_store(log: EventLog) -> ContestStore:
    """Return the store for the contests whose games a log has."""
    if log.database is None:
        return MemoryContests()
    from gmd.lobby.contest_sql import SqlContests  # it imports SQLAlchemy, which takes longer than all else

    return SqlContests(log.database)
