"""Who may serve a database: one daemon at a time, the next one in time, and nobody under an older term."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
import trio

from gmd.event_log.interface import LogFailed
from gmd.games.events import Moved
from tests.event_log.test_contract import CREATED, append
from tests.event_log.test_postgres_pool import pool
from tests.helpers import running_log
from tests.postgres import Postgres, new_store, new_term, require_postgres, shared_postgres
from tests.tools import require_module, require_program_of

require_module("psycopg")
import psycopg  # noqa: E402 (skipped above where it is missing)

from gmd.event_log.lease import Lease  # noqa: E402
from gmd.event_log.migrations import HEAD, migrate  # noqa: E402
from gmd.event_log.postgres_engine import open_engine  # noqa: E402
from gmd.event_log.server_lock import KEY, LockLost, ServerLock, who_serves  # noqa: E402
from gmd.event_log.store import Fenced  # noqa: E402

#: The length of leases here, in seconds, and a time in which something happens that is to happen soon.
SECONDS = 1.0
PATIENCE = 60


@pytest.fixture(scope="module")
def server() -> Postgres:
    require_postgres()
    return shared_postgres()


@pytest.fixture
def url(server: Postgres) -> Iterator[str]:
    url = server.new_database()
    engine = open_engine(url)
    migrate(engine)
    engine.dispose()
    yield url
    server.drop(url)


@asynccontextmanager
async def waiting(url: str, name: str) -> AsyncIterator[Lease]:
    """Wait for the lock of a database, until the end of the block."""
    lease = Lease(ServerLock(url, name, "0.3.0", SECONDS), SECONDS)
    lease.start()
    try:
        with trio.fail_after(PATIENCE):
            yield lease
    finally:
        await lease.stop()


@asynccontextmanager
async def held(url: str, name: str) -> AsyncIterator[Lease]:
    """Have the lock of a database until the end of the block, or until somebody else gets it."""
    async with waiting(url, name) as lease, trio.open_nursery() as nursery:
        await lease.won.wait()
        nursery.start_soon(lease.watch)
        yield lease
        nursery.cancel_scope.cancel()


def end_session(url: str, name: str) -> None:
    """End the session of the lock that a daemon has."""
    with psycopg.connect(url, autocommit=True) as operator:
        query = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = %s"
        assert operator.execute(query, (f"gmd {name}",)).fetchall() == [(True,)]


async def let_run_out(one: Lease, url: str) -> None:
    """Return when a lease has run out: somebody has had the lock meanwhile, who has raised no term."""
    end_session(url, "one")
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (KEY,))
        while one.is_valid():  # noqa: ASYNC110 (time passes)
            await trio.sleep(0.01)


async def test_standby_opens_at_once_after_a_daemon_that_has_ended_its_work(url: str) -> None:
    async with held(url, "one") as one:
        one.show("host:7100")
        async with waiting(url, "two") as two:
            await two.waits.wait()
            assert two.server is not None
            assert (two.server.name, two.server.term) == ("one", one.term)
            while not (found := who_serves(url))[0] or not found[0].addresses:  # noqa: ASYNC110 (a thread writes it)
                await trio.sleep(0.01)
            server, standbys = found
            assert (server.name, server.addresses, [each.name for each in standbys]) == ("one", "host:7100", ["two"])
            assert one.is_valid()
            assert not two.is_valid()
            await one.stop(released=True)
            await two.won.wait()
            began = trio.current_time()
            await two.opens()
            assert trio.current_time() - began < SECONDS / 2
            assert (two.term, two.is_valid(), one.is_valid()) == (one.term + 1, True, False)


async def test_standby_waits_for_the_lease_of_a_daemon_that_has_not_ended_its_work(url: str) -> None:
    async with held(url, "one") as one, waiting(url, "two") as two:
        await two.waits.wait()
        await one.stop()
        await two.won.wait()
        began = trio.current_time()
        await two.opens()
        assert trio.current_time() - began > SECONDS / 2


async def test_daemon_that_ends_before_it_could_open_does_not_shorten_the_wait_for_the_one_before(url: str) -> None:
    async with held(url, "one") as one, waiting(url, "two") as two:
        await two.waits.wait()
        await one.stop()
        await two.won.wait()
        await two.stop(released=True)
        async with held(url, "three") as three:
            began = trio.current_time()
            await three.opens()
            assert trio.current_time() - began > SECONDS / 2


async def test_daemon_that_gets_its_lock_back_goes_on(url: str) -> None:
    async with held(url, "one") as one:
        resumed: list[float] = []
        one.on_resumed = resumed.append
        await let_run_out(one, url)
        await one.valid()
        assert not one.lost.is_set()
        assert [seconds > 0 for seconds in resumed] == [True]


async def test_daemon_that_another_one_has_followed_is_lost(url: str) -> None:
    async with held(url, "one") as one, waiting(url, "two") as two:
        await two.waits.wait()
        end_session(url, "one")
        await two.won.wait()
        await one.lost.wait()
        assert not one.is_valid()
        await two.opens()
        assert two.is_valid()


@pytest.mark.slow
async def test_calls_of_held_replies_come_when_the_lease_is_valid_again_and_never_after_a_loss(url: str) -> None:
    async with held(url, "one") as one:
        await let_run_out(one, url)
        called = trio.Event()
        one.when_valid(called.set)
        await called.wait()
        end_session(url, "one")
        new_term(url)
        await one.lost.wait()
        never = trio.Event()
        one.when_valid(never.set)
        with trio.move_on_after(2 * SECONDS):
            await never.wait()
        assert not never.is_set()


async def acquired(lock: ServerLock) -> None:
    """Get a lock as soon as the server has noticed that the session before has ended."""
    with trio.fail_after(60):
        while not lock.acquire():  # noqa: ASYNC110 (the server notices by itself)
            await trio.sleep(0.01)


async def test_wait_for_a_daemon_is_not_shortened_by_a_program_that_won_meanwhile(url: str) -> None:
    """As by an import that was interrupted in its wait, or a daemon with a shorter lease."""
    async with held(url, "one") as one:
        await one.stop()
        with closing(ServerLock(url, "import", "0.3.0", 0.0)) as lock:
            await acquired(lock)
            lock.raise_term()
        async with waiting(url, "two") as two:
            await two.won.wait()
            began = trio.current_time()
            await two.opens()
            assert trio.current_time() - began > SECONDS / 2
            await two.stop(released=True)
    with closing(ServerLock(url, "import", "0.3.0", 0.0)) as lock:
        await acquired(lock)
        lock.raise_term()
        server = lock.server()
        assert server is not None
        assert server.lease == 0.0


async def test_daemon_that_may_not_write_does_not_keep_the_lock(server: Postgres) -> None:
    url = server.new_database()
    with psycopg.connect(url, autocommit=True) as operator:
        operator.execute("CREATE ROLE reader LOGIN")
        operator.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    async with waiting(url.replace("gmd@", "reader@"), "one") as one:
        await one.won.wait()
        assert isinstance(one.error, psycopg.errors.InsufficientPrivilege)
        await one.stop()
    async with held(url, "two") as two:
        assert two.error is None
        await two.stop()
    server.drop(url)


async def test_standby_that_does_not_know_the_schema_does_not_take_over(url: str) -> None:
    async with held(url, "one") as one, waiting(url, "two") as two:
        await two.waits.wait()
        with psycopg.connect(url, autocommit=True) as operator:
            operator.execute("UPDATE alembic_version SET version_num = '9999'")
        await one.stop(released=True)
        await two.won.wait()
        await two.stop()
        assert str(two.error) == f"its schema is at revision 9999; this program knows {HEAD} and those before"
        server, standbys = who_serves(url)
        assert (server, standbys) == (None, [])
        with psycopg.connect(url) as operator:
            assert operator.execute("SELECT term FROM server").fetchone() == (one.term,)


@pytest.mark.parametrize("by_thread", [True, False])
async def test_nothing_is_written_under_an_older_term(url: str, by_thread: bool) -> None:
    refused: list[None] = []
    with closing(new_store(url, refused=lambda: refused.append(None))) as store:
        async with running_log(store, by_thread=by_thread) as log:
            await append(log, 1, 0, CREATED)
            newer = new_term(url)
            with pytest.raises(LogFailed):
                await append(log, 1, 1, Moved("e2e4"))
            with pytest.raises(LogFailed):
                await append(log, 2, 0, CREATED)
            with pytest.raises(LogFailed):
                await log.write(lambda connection: connection.exec_driver_sql("DELETE FROM games"))
            with pytest.raises(LogFailed):
                await log.prune(0.0)
            assert len(refused) >= 4
            assert await log.load(1) == [CREATED]
            assert await log.load(2) == []
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0010'")
    with pytest.raises(Fenced):
        migrate(engine, newer - 1)
    engine.dispose()


def test_lock_is_not_trusted_in_another_session_of_a_pool(server: Postgres, url: str) -> None:
    """A pool of transactions gives its client another session where the one with the lock is busy."""
    require_program_of("pgbouncer", [Path("/usr/sbin")])
    with pool(server, url, "transaction") as pooled, closing(ServerLock(pooled, "one", "0.3.0", 60.0)) as lock:
        assert lock.acquire()
        lock.sign()
        with psycopg.connect(pooled, prepare_threshold=None) as busy:
            busy.execute("SELECT 1")
            with pytest.raises(LockLost):
                lock.sign()
