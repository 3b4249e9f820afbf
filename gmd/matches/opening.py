"""The store of shared matches that belongs to an event log."""

from __future__ import annotations

from gmd.event_log.interface import EventLog

from .memory import MemoryMatches
from .store import MatchStore


def matches_beside(log: EventLog) -> MatchStore:
    """Return the store for the matches whose games a log has."""
    if log.database is None:
        return MemoryMatches()
    from .sql import SqlMatches  # it imports SQLAlchemy, which takes longer than all else

    return SqlMatches(log.database)
