"""From a log to where its players are kept."""

from __future__ import annotations

from gmd.event_log.interface import EventLog

from .memory import MemoryPlayers
from .store import PlayerStore


def players_beside(log: EventLog) -> PlayerStore:
    """Players who are kept where a log keeps its games."""
    if log.database is None:
        return MemoryPlayers()
    from .sql import SqlPlayers  # SQLAlchemy, which takes longer to import than all else

    return SqlPlayers(log.database)
