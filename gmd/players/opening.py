"""The store of players that belongs to an event log."""

from __future__ import annotations

from gmd.event_log.interface import EventLog
from gmd.players.store import MemoryPlayers, PlayerStore


def player_store(log: EventLog) -> PlayerStore:
    """Return the store for the players of a log's games."""
    if log.database is None:
        return MemoryPlayers()
    from gmd.players.sql import SqlPlayers  # it imports SQLAlchemy, which takes longer than all else

    return SqlPlayers(log.database)
