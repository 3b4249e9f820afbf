"""Connections to PostgreSQL that are lost: while idle, before a commit, after it, and while it is replicated. Each
batch is written once.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from threading import Thread
from typing import Any

import pytest
import trio

from gmd.event_log.batching import BatchingLog
from gmd.event_log.interface import LogFailed, OutcomeInDoubt
from gmd.games.events import Moved
from gmd.players.registry import Registry
from gmd.players.sql import SqlPlayers
from tests.event_log.test_contract import CREATED, SUMMARY, append
from tests.helpers import memory_daemon, running_log
from tests.postgres import Postgres, clean_database, new_store, own_postgres, require_postgres, shared_postgres
from tests.tools import require_module

#: Seconds after which something that should happen soon counts as never.
PATIENCE = 30


#: What a server that is being stopped says, in PostgreSQL's protocol, as the last message of a session.
_SHUTDOWN = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
SHUTDOWN = b"E" + (len(_SHUTDOWN) + 4).to_bytes(4, "big") + _SHUTDOWN
#: What a server says that refuses a statement, and waits for the next one.
_REFUSAL = b"SERROR\0VERROR\0C53100\0Mcould not write\0\0"
REFUSAL = b"E" + (len(_REFUSAL) + 4).to_bytes(4, "big") + _REFUSAL + b"Z\0\0\0\5I"


class CuttingProxy:
    """A proxy between a client and a server, which can cut a connection at a request, or after its answer.

    :ivar cut_reply: whether the next answer is dropped, with its connection.
    :ivar cut_request: the next request that contains this is dropped, with its connection; empty for none.
    :ivar last_words: what the client gets for it; after a refusal the connection goes on.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cut_reply = False
        self.cut_request = self.last_words = b""
        self._threads = [Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        """Take no more connections, and wait until the last one has ended."""
        self._listener.shutdown(socket.SHUT_RDWR)  # or accept would wait on
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._path)
                self._threads.append(Thread(target=self._serve, args=(client, server)))
                self._threads[-1].start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        with client, server:
            asking = Thread(target=self._copy, args=(client, server))
            asking.start()
            self._copy(server, client, may_cut=True)
            asking.join()

    def _copy(self, source: socket.socket, target: socket.socket, *, may_cut: bool = False) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if may_cut and self.cut_reply:
                    self.cut_reply = False
                    break
                if not may_cut and self.cut_request and self.cut_request in data:
                    self.cut_request = b""
                    source.sendall(self.last_words)
                    if self.last_words == REFUSAL:
                        continue
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def url() -> Iterator[str]:
    """Return the URL of an empty database with the current schema."""
    require_postgres()
    with clean_database() as url:
        yield url


@pytest.fixture
def proxy(url: str) -> Iterator[CuttingProxy]:
    server = shared_postgres()
    with closing(CuttingProxy(str(server.directory / f".s.PGSQL.{server.port}"))) as proxy:
        yield proxy


@asynccontextmanager
async def open_log(url: str, patience: float = 60.0, *, by_thread: bool = False) -> AsyncIterator[BatchingLog]:
    """Run a log in a database, which waits for the server for so long.

    :param by_thread: whether a thread writes the batches rather than the event loop.
    """
    with closing(new_store(url, patience)) as store:
        async with running_log(store, by_thread=by_thread) as log:
            yield log


def through(proxy: CuttingProxy, url: str) -> str:
    server = shared_postgres()
    return server.tcp_url(url).replace(f":{server.port}/", f":{proxy.port}/") + "?sslmode=disable&gssencmode=disable"


def end_sessions(url: str) -> None:
    """End all sessions of a database."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
    with require_module("psycopg").connect(url, autocommit=True) as operator:
        assert operator.execute(end, (operator.info.backend_pid,)).fetchall()


async def count(log: BatchingLog, table: str) -> Any:
    return await log.read(lambda connection: connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar())


@pytest.mark.parametrize("by_thread", [True, False])
async def test_commit_whose_answer_is_lost_is_found_and_not_repeated(
    url: str, proxy: CuttingProxy, by_thread: bool
) -> None:
    async with open_log(through(proxy, url), by_thread=by_thread) as log:
        await append(log, 1, 0, CREATED)
        proxy.cut_reply = True
        await append(log, 1, 1, Moved("e2e4"))
        assert not proxy.cut_reply
        await append(log, 1, 2, Moved("e7e5"))
        assert await log.load(1) == [CREATED, Moved("e2e4"), Moved("e7e5")]


@pytest.mark.parametrize("last_words", [b"", SHUTDOWN], ids=["silent", "shutdown"])
@pytest.mark.parametrize("request_of_a_new_connection", [b"lock_timeout", b"plan_cache_mode"])
async def test_new_connection_that_is_lost_at_once_is_opened_again(
    url: str, proxy: CuttingProxy, request_of_a_new_connection: bytes, last_words: bytes
) -> None:
    async with open_log(through(proxy, url), by_thread=True) as log:
        end_sessions(url)
        proxy.cut_request, proxy.last_words = request_of_a_new_connection, last_words
        await append(log, 1, 0, CREATED)
        assert not proxy.cut_request
        assert await log.load(1) == [CREATED]


async def test_commit_whose_answer_is_lost_is_in_doubt_if_the_next_connection_is_refused(
    url: str, proxy: CuttingProxy
) -> None:
    async with open_log(through(proxy, url), by_thread=True) as log:
        await append(log, 1, 0, CREATED)
        proxy.cut_reply = True
        proxy.cut_request, proxy.last_words = b"plan_cache_mode", REFUSAL
        with pytest.raises(OutcomeInDoubt, match="it is not known whether the request was carried out"):
            await append(log, 1, 1, Moved("e2e4"))


@pytest.mark.parametrize("by_thread", [True, False])
async def test_new_game_whose_answer_is_lost_is_there_once(url: str, proxy: CuttingProxy, by_thread: bool) -> None:
    async with open_log(through(proxy, url), by_thread=by_thread) as log:
        await append(log, 1, 0, CREATED)
        proxy.cut_reply = True
        await append(log, 2, 0, CREATED)
        assert await log.load(2) == [CREATED]
        assert await count(log, "games") == 2


async def test_other_write_whose_commit_is_lost_is_done_once(url: str, proxy: CuttingProxy) -> None:
    async with open_log(through(proxy, url)) as log:

        def write(connection: Any) -> str:
            connection.exec_driver_sql("INSERT INTO secrets VALUES ('one', '')")
            commit = connection.connection.driver_connection.commit

            def cut() -> None:
                proxy.cut_reply = True
                commit()

            connection.connection.driver_connection.commit = cut
            return "done"

        assert await log.write(write) == "done"
        assert not proxy.cut_reply
        assert await count(log, "secrets") == 1


@pytest.mark.parametrize("by_thread", [True, False])
async def test_connection_that_ends_before_a_commit_is_opened_again(url: str, by_thread: bool) -> None:
    async with open_log(url, by_thread=by_thread) as log:
        await append(log, 1, 0, CREATED)
        end_sessions(url)
        commits = [log.append(game_id, seq, [CREATED], lambda: SUMMARY) for game_id, seq in ((1, 1), (2, 0))]
        for commit in commits:
            await commit.wait()
        assert await log.load(1) == [CREATED, CREATED]
        assert await log.load(2) == [CREATED]


@pytest.fixture
def server() -> Iterator[Postgres]:
    require_postgres()
    with own_postgres() as server:
        yield server


def migrated(server: Postgres) -> str:
    from gmd.event_log.migrations import migrate
    from gmd.event_log.postgres_engine import open_engine

    url = server.new_database()
    engine = open_engine(url)
    migrate(engine)
    engine.dispose()
    return url


@pytest.mark.slow
@pytest.mark.parametrize("by_thread", [True, False])
async def test_crash_and_restart_of_the_server_delay_a_commit(server: Postgres, by_thread: bool) -> None:
    async with open_log(migrated(server), by_thread=by_thread) as log:
        await append(log, 1, 0, CREATED)
        server.stop("immediate")
        commit = log.append(1, 1, [Moved("e2e4")], lambda: SUMMARY)
        server.start()
        await commit.wait()
        assert log.failure is None
        assert await log.load(1) == [CREATED, Moved("e2e4")]


@pytest.mark.slow
async def test_crash_and_restart_of_the_server_delay_a_read(server: Postgres) -> None:
    async with open_log(migrated(server)) as log, trio.open_nursery() as nursery:
        await append(log, 1, 0, CREATED)
        server.stop("immediate")
        nursery.start_soon(trio.to_thread.run_sync, server.start)
        assert await log.load(1) == [CREATED]


@pytest.mark.slow
async def test_outage_fails_appends_and_ends_by_itself(server: Postgres) -> None:
    async with open_log(migrated(server), patience=0.0, by_thread=True) as log:
        await append(log, 1, 0, CREATED)
        server.stop("immediate")
        with pytest.raises(LogFailed) as caught:
            await append(log, 1, 1, Moved("e2e4"))
        assert str(caught.value) == (
            "game 1: the connection to the database was lost, and it is not known whether the request was carried "
            "out: look at the game, or send the request again with the same ply or token"
        )
        with pytest.raises(LogFailed) as caught:
            await append(log, 1, 1, Moved("e2e4"))
        sentence = "game 1: the database cannot be reached now; nothing was done: send the request again"
        assert (str(caught.value), caught.value.code, caught.value.retry_after) == (sentence, "internal", 1.0)
        assert log.failure is not None
        with pytest.raises(LogFailed) as caught:
            await log.load(1)
        assert (str(caught.value), caught.value.code, caught.value.retry_after) == (sentence, "internal", 1.0)
        server.start()
        await append(log, 1, 1, Moved("e2e4"))
        assert log.failure is None
        assert await log.load(1) == [CREATED, Moved("e2e4")]


@pytest.mark.slow
async def test_commit_that_may_still_be_under_way_is_not_said_to_be_undone(url: str) -> None:
    psycopg = require_module("psycopg")
    end = "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted"

    def end_it() -> None:
        with psycopg.connect(url, autocommit=True) as operator:
            while not operator.execute(f"{end} AND datname = current_database()").fetchall():
                pass

    async with open_log(url) as log:
        await append(log, 1, 0, CREATED)
        with psycopg.connect(url) as other:
            other.execute("SELECT 1 FROM games WHERE game_id = 1 FOR UPDATE")
            commit = log.append(1, 1, [Moved("e2e4")], lambda: SUMMARY)
            await trio.to_thread.run_sync(end_it)  # the second attempt waits for the lock until it gives up
            with pytest.raises(LogFailed, match="it is not known whether"):
                await commit.wait()


class Stopping:
    """The database of a log whose server is killed just before each commit of other data."""

    def __init__(self, log: BatchingLog, server: Postgres) -> None:
        self._log, self._server = log, server

    async def read(self, work: Any) -> Any:
        return await self._log.read(work)

    async def write(self, work: Any) -> Any:
        def stopping(connection: Any) -> Any:
            driver = connection.connection.driver_connection
            commit = driver.commit

            def kill() -> None:
                self._server.stop("immediate")
                commit()

            driver.commit = kill
            return work(connection)

        return await self._log.write(stopping)


@pytest.mark.slow
async def test_player_who_may_have_been_stored_is_not_said_to_be_undone(server: Postgres) -> None:
    async with open_log(migrated(server), patience=0.0) as log:
        registry = Registry(SqlPlayers(Stopping(log, server)), 10)
        await registry.start()
        with pytest.raises(LogFailed, match="lost; nobody knows whether this was done"):
            await registry.register("one", None, None)


@pytest.mark.slow
async def test_move_in_doubt_is_to_be_sent_again_if_that_is_safe(server: Postgres) -> None:

    with closing(new_store(migrated(server), 0.0)) as store:
        log = BatchingLog(store)
        async with memory_daemon(log) as daemon:
            client = await daemon.connect(player=1)
            game_id = (await client.new_game())["game_id"]
            server.stop("immediate")
            reply = await client.ask("move", game_id=game_id, move="e4", ply=0)
            assert (reply["code"], reply["retry_after"]) == ("internal", 1.0)
            assert "it is not known whether the request was carried out" in reply["error"]
            server.start()
            assert (await client.ask("move", game_id=game_id, move="e4", ply=0))["error"] is None
        log.close()


@asynccontextmanager
async def noted_connections(url: str) -> AsyncIterator[tuple[BatchingLog, trio.MemoryReceiveChannel[Any]]]:
    """Run a log that is written by the event loop; also return the connections for its batches, as they are opened."""
    sending, opened = trio.open_memory_channel[Any](10)
    with trio.fail_after(PATIENCE), closing(new_store(url)) as store:
        open_connection = store.commit_connection

        @asynccontextmanager
        async def noted() -> AsyncIterator[Any]:
            async with open_connection() as connection:
                sending.send_nowait(connection)
                yield connection

        store.commit_connection = noted  # type: ignore[method-assign]
        async with running_log(store) as log:
            yield log, opened


async def test_connection_that_is_closed_before_its_loss_is_taken_in_gets_no_batch(url: str) -> None:
    async with noted_connections(url) as (log, opened):
        await append(log, 1, 0, CREATED)
        (await opened.receive()).pgconn.finish()  # as libpq does when it reads the end of the connection
        await append(log, 1, 1, Moved("e2e4"))
        assert await log.load(1) == [CREATED, Moved("e2e4")]
        await opened.receive()  # it has connected again


class AppendAtLoss(trio.abc.Instrument):
    """Appends to a log in the turn of the event loop in which its connection is found lost.

    :ivar commit: the append, once it is made; ``made`` is set then.
    """

    def __init__(self, log: BatchingLog, connection: Any) -> None:
        self._log, self._connection = log, connection
        self._token = trio.lowlevel.current_trio_token()
        self.made = trio.Event()
        self.commit: Any = None

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if self.commit is None and self._connection.closed:
            self.commit = self._log.append(1, 1, [Moved("e2e4")], lambda: SUMMARY)
            self._token.run_sync_soon(self.made.set)


async def test_append_in_the_turn_in_which_the_connection_is_found_lost_is_written(url: str) -> None:
    psycopg = require_module("psycopg")
    async with noted_connections(url) as (log, opened):
        await append(log, 1, 0, CREATED)
        connection = await opened.receive()
        trio.lowlevel.add_instrument(at_loss := AppendAtLoss(log, connection))
        with psycopg.connect(url, autocommit=True) as operator:
            operator.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
        await at_loss.made.wait()
        await at_loss.commit.wait()
        trio.lowlevel.remove_instrument(at_loss)
        assert await log.load(1) == [CREATED, Moved("e2e4")]


async def test_batches_larger_than_the_buffers_of_the_socket_are_written(url: str) -> None:
    async with open_log(url) as log:
        commits = [log.append(game_id, 0, [CREATED] * 50, lambda: SUMMARY) for game_id in range(1, 257)]
        for commit in commits:
            await commit.wait()
        assert await count(log, "events") == 256 * 50


async def test_event_that_cannot_be_stored_fails_its_append_alone(url: str) -> None:
    with trio.fail_after(PATIENCE):
        async with open_log(url) as log:
            await append(log, 1, 0, CREATED)
            with pytest.raises(LogFailed):
                await append(log, 1, 1, Moved("\udcff"))
            await append(log, 1, 1, Moved("e2e4"))
            assert await log.load(1) == [CREATED, Moved("e2e4")]


# --- Synchronous replication: nothing is acknowledged that a failover may undo ----------------------------------------

#: Backends that wait for a standby to confirm their commits.
WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


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


@pytest.mark.slow
@pytest.mark.parametrize("by_thread", [True, False])
async def test_move_whose_wait_for_the_replica_is_cancelled_is_acknowledged_once_it_is_replicated(
    server: Postgres, by_thread: bool
) -> None:
    psycopg, url = require_module("psycopg"), migrated(server)
    with psycopg.connect(url, autocommit=True) as connection:
        operator = Operator(connection)
        async with open_log(url, by_thread=by_thread) as log:
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
async def test_other_write_whose_wait_for_the_replica_is_cancelled_is_not_known_to_be_done(server: Postgres) -> None:
    psycopg, url = require_module("psycopg"), migrated(server)
    with psycopg.connect(url, autocommit=True) as connection:
        operator = Operator(connection)
        async with open_log(url) as log, trio.open_nursery() as nursery:
            operator.require_replica(True)
            nursery.start_soon(operator.cancel)
            insert = "INSERT INTO secrets VALUES ('a', 'b')"
            with pytest.raises(LogFailed) as caught:
                await log.write(lambda connection: connection.exec_driver_sql(insert))
            operator.require_replica(False)
            assert "nobody knows whether this was done" in str(caught.value)
