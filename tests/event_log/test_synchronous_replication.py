"""A database that replicates synchronously: nothing is acknowledged that a failover may undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import trio

from gmd.event_log.interface import LogFailed
from gmd.games.events import Moved
from tests.event_log.test_contract import CREATED, SUMMARY, append
from tests.helpers import running_log
from tests.postgres import Postgres, new_store, own_postgres, require_postgres
from tests.tools import require_module

#: Backends that wait for a standby to confirm their commits.
WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@pytest.fixture
def server() -> Iterator[Postgres]:
    require_postgres()
    with own_postgres() as server:
        yield server


class Operator:
    """The operator of a database, whose standby by the name "replica" is away."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def require_replica(self, required: bool) -> None:
        """Have commits wait for the standby, or not any more: those that wait then end."""
        name = "replica" if required else ""
        self._connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        self._connection.execute("SELECT pg_reload_conf()")

    async def until(self, is_true: Callable[[set[int]], bool]) -> set[int]:
        """Return the backends that wait for the standby, once something is true of them."""
        with trio.fail_after(60):
            while not is_true(found := {pid for (pid,) in self._connection.execute(WAITING)}):  # noqa: ASYNC110
                await trio.sleep(0.01)
        return found

    async def cancel(self) -> None:
        """Cancel the wait of the backend that waits, and return when it does not wait any more."""
        (pid,) = await self.until(bool)
        self._connection.execute("SELECT pg_cancel_backend(%s)", (pid,))
        await self.until(lambda waiting: pid not in waiting)


@pytest.fixture
def url(server: Postgres) -> str:
    from gmd.event_log.migrations import migrate
    from gmd.event_log.postgres_engine import open_engine

    url = server.new_database()
    engine = open_engine(url)
    migrate(engine)
    engine.dispose()
    return url


@pytest.mark.slow
@pytest.mark.parametrize("by_thread", [True, False])
async def test_move_whose_wait_for_the_replica_is_cancelled_is_acknowledged_once_it_is_replicated(
    url: str, by_thread: bool
) -> None:
    psycopg = require_module("psycopg")
    with closing(new_store(url)) as store, psycopg.connect(url, autocommit=True) as connection:
        operator = Operator(connection)
        async with running_log(store, by_thread=by_thread) as log:
            await append(log, 1, 0, CREATED)
            operator.require_replica(True)
            commit = log.append(1, 1, [Moved("e2e4")], lambda: SUMMARY)
            await operator.cancel()
            await operator.until(bool)  # it asks again, by another commit
            assert not commit.done
            operator.require_replica(False)
            await commit.wait()
            assert await log.load(1) == [CREATED, Moved("e2e4")]


@pytest.mark.slow
async def test_other_write_whose_wait_for_the_replica_is_cancelled_is_not_known_to_be_done(url: str) -> None:
    psycopg = require_module("psycopg")
    with closing(new_store(url)) as store, psycopg.connect(url, autocommit=True) as connection:
        operator = Operator(connection)
        async with running_log(store) as log, trio.open_nursery() as nursery:
            operator.require_replica(True)
            nursery.start_soon(operator.cancel)
            insert = "INSERT INTO secrets VALUES ('a', 'b')"
            with pytest.raises(LogFailed) as caught:
                await log.write(lambda connection: connection.exec_driver_sql(insert))
            operator.require_replica(False)
            assert "nobody knows whether this was done" in str(caught.value)
