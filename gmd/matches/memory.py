"""A database in memory for the shared matches of a daemon that keeps its games in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import trio

from gm_protocol.work import WorkShare
from gmd.event_log.database import Database

from .claim import Claim, OtherMatch

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from .sql import Clock, SqlMatches

_T = TypeVar("_T")


class MemoryDatabase(Database):
    """A database of SQLite's that ends with the process; one piece of work at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turn = trio.Lock()

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        return await self.write(work)

    async def write(self, work: Callable[[Connection], _T]) -> _T:
        async with self._turn:
            return await trio.to_thread.run_sync(self._write, work)

    def _write(self, work: Callable[[Connection], _T]) -> _T:
        with self._engine.begin() as connection:
            return work(connection)


class MemoryMatches:
    """A store of shared matches in memory, which imports SQLAlchemy only when there is one."""

    def __init__(self) -> None:
        self._opened: SqlMatches | None = None
        self._opening = trio.Lock()

    async def work(self, claim: Claim, *, begin: bool) -> WorkShare | OtherMatch | None:
        return await (await self._store()).work(claim, begin=begin)

    async def sweep(self) -> bool:
        return await (await self._store()).sweep()

    async def _store(self) -> SqlMatches:
        async with self._opening:
            if self._opened is None:
                self._opened = await trio.to_thread.run_sync(memory_matches)
        return self._opened


def memory_matches(clock: Clock | None = None) -> SqlMatches:
    """Return an empty store in memory."""
    from sqlalchemy import StaticPool, create_engine

    from gmd.event_log.tables import match_games, matches, metadata

    from .sql import SqlMatches, database_time

    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine, [matches, match_games])
    return SqlMatches(MemoryDatabase(engine), clock or database_time)
