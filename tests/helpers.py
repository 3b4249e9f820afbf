"""Daemons and clients for tests: over a real socket, or over streams in memory where a test skips time."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import trio
import trio.testing

from gm_protocol.framing import FrameDecoder, encode_frame
from gmd.config import Config
from gmd.daemon import Daemon, authenticator_of, lobby_of, open_daemon, ranked_of, services_of
from gmd.event_log.batching import BatchingLog
from gmd.event_log.interface import EventLog
from gmd.event_log.memory import MemoryLog
from gmd.event_log.migrations import migrate
from gmd.event_log.sqlite import BUSY_SECONDS, SqliteStore, open_engine
from gmd.event_log.store import GameAppend, ResultDelivered, Store
from gmd.games.events import AnyEvent
from gmd.handlers.services import Services
from gmd.net.metrics import Metrics
from gmd.net.tls import certificate_of
from gmd.play.arbiter import Arbiter
from gmd.players.passwords import Passwords
from gmd.tcp.listener import SessionServer

#: A reply decoded without gmd's code, as a bot author sees it who has nothing but a JSON parser.
Json = dict[str, Any]

START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Client:
    """One connection that speaks frames of JSON."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._decoder = FrameDecoder(1 << 30)

    async def send(self, *requests: Json) -> None:
        """Send requests in one write."""
        await self.send_bytes(b"".join(encode_frame(json.dumps(request).encode()) for request in requests))

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        await self.stream.send_all(data)

    async def end(self) -> None:
        """End the sending side of the stream."""
        assert isinstance(self.stream, trio.abc.HalfCloseableStream)
        await self.stream.send_eof()

    async def receive_body(self) -> bytes | None:
        """Return the next reply's bytes, or None where the server has closed between frames."""
        while (body := self._decoder.next_frame()) is None:
            data = await self.stream.receive_some()
            if not data:
                self._decoder.at_end()
                return None
            self._decoder.feed(data)
        return body

    async def receive(self) -> Json:
        """Return the next reply.

        :raises EOFError: the server has closed.
        """
        body = await self.receive_body()
        if body is None:
            raise EOFError("the server closed the connection")
        reply: Json = json.loads(body)
        return reply

    async def ask(self, kind: str, **fields: Any) -> Json:
        """Send one request and receive its reply."""
        await self.send({"kind": kind, **fields})
        return await self.receive()

    async def closed(self) -> bool:
        """Return whether the server closes without sending anything more."""
        return await self.receive_body() is None

    async def aclose(self) -> None:
        """Close at once, even while something is in progress."""
        await trio.aclose_forcefully(self.stream)

    async def new_game(self, white: int = 1, black: int = 2, **options: Any) -> Json:
        """Start a game and return the reply; an error fails the test."""
        reply = await self.ask("new_game", player_white=white, player_black=black, **options)
        assert reply["error"] is None, reply
        return reply

    async def play(self, game_id: int, *moves: str, white: int = 1, black: int = 2, white_first: bool = True) -> Json:
        """Make moves in turn and return the last state; a refused move fails the test."""
        reply: Json = {}
        for ply, move in enumerate(moves):
            player = white if (ply % 2 == 0) == white_first else black
            reply = await self.ask("move", game_id=game_id, player=player, move=move)
            assert reply["error"] is None, reply
        state: Json = reply["state"]
        return state


@asynccontextmanager
async def running_daemon(**settings: Any) -> AsyncIterator[Daemon]:
    """Run a daemon on a free port of the loopback address."""
    async with open_daemon(Config(**{"port": 0, "data": ":memory:", **settings})) as daemon:
        daemon.authenticator.passwords = cheap_passwords()
        yield daemon


def cheap_passwords() -> Passwords:
    """Return a hasher that costs next to nothing: few tests need the usual tenth of a second for each password."""
    return Passwords(passes=1, memory_kib=64)


@asynccontextmanager
async def connected(daemon: Daemon, *, hello: bool = True, player: int | None = None) -> AsyncIterator[Client]:
    """Open a connection to a daemon; with ``hello``, begin a version 2 session on it."""
    client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
    try:
        if hello:
            reply = await client.ask("hello", protocol=2, player=player)
            assert reply["error"] is None, reply
        yield client
    finally:
        await client.aclose()


class MemoryDaemon:
    """A daemon without sockets: the same sessions, on streams in memory."""

    def __init__(self, services: Services, session_server: SessionServer, nursery: trio.Nursery) -> None:
        self.services = services
        self.arbiter = services.arbiter
        self.authenticator = services.authenticator
        self.lobby = services.lobby
        self.session_server = session_server
        self._nursery = nursery

    def serve(self, stream: trio.abc.Stream) -> None:
        """Begin a session on the daemon's end of a stream."""
        self._nursery.start_soon(self.session_server.handle, stream)

    async def connect(self, *, hello: bool = True, player: int | None = None) -> Client:
        """Open a connection; with ``hello``, begin a version 2 session on it."""
        ours, theirs = trio.testing.memory_stream_pair()
        self.serve(theirs)
        client = Client(ours)
        if hello:
            reply = await client.ask("hello", protocol=2, player=player)
            assert reply["error"] is None, reply
        return client


@asynccontextmanager
async def memory_daemon(
    log: EventLog | None = None, arbiter: Arbiter | None = None, **settings: Any
) -> AsyncIterator[MemoryDaemon]:
    """Run a :class:`MemoryDaemon`, on a new log unless one is given.

    :param arbiter: on this log, and started.
    """
    config = Config(data=":memory:", **settings)
    log = log or MemoryLog()
    if arbiter is None:
        arbiter = Arbiter(log, config.start_timeout, config.idle_games, config.max_memory // 2)
        await arbiter.start()
    with closing(authenticator_of(config, log)) as authenticator:
        authenticator.passwords = cheap_passwords()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(log.run)
            nursery.start_soon(arbiter.run)
            await authenticator.registry.start()
            nursery.start_soon(authenticator.registry.run)
            lobby = lobby_of(config, arbiter, authenticator, local=True)
            await lobby.start()
            nursery.start_soon(lobby.run)
            ranked = ranked_of(config, arbiter, authenticator, lobby)
            await ranked.start()
            nursery.start_soon(ranked.run)
            services = services_of(config, arbiter, authenticator, lobby, ranked, Metrics(), local=True)
            session_server = SessionServer(services, certificate_of(config.tls_cert, config.tls_key))
            try:
                yield MemoryDaemon(services, session_server, nursery)
            finally:  # a failing test must end too, and the log writes until it is stopped
                nursery.cancel_scope.cancel()
                log.stop()


def troubles(logged: Iterable[MutableMapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the log entries that an operator should see at once: warnings and worse."""
    return [dict(entry) for entry in logged if entry["log_level"] not in ("debug", "info")]


class FaultyStore:
    """A store that can be held up or made to fail, and that records what it was given.

    :ivar fault: the exception that every write raises, if there is one; nothing is written then.
    :ivar batches: the ids of the games in each batch that was begun.
    :ivar loads: the ids of the games that were loaded.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.fault: Exception | None = None
        self.batches: list[list[int]] = []
        self.loads: list[int] = []
        self._may_write = threading.Event()
        self._may_write.set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let no write end, in success or failure, before this context does."""
        self._may_write.clear()
        try:
            yield
        finally:
            self._may_write.set()

    def write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        self.batches.append([append.game_id for append in appends])
        assert self._may_write.wait(60), "the test has ended without releasing the store"
        if self.fault is not None:
            raise self.fault
        self._store.write(appends, delivered)

    def probe(self) -> None:
        if self.fault is not None:
            raise self.fault
        self._store.probe()

    def load(self, game_id: int) -> list[AnyEvent]:
        self.loads.append(game_id)
        return self._store.load(game_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@contextmanager
def store_in(directory: Path, patience: float = BUSY_SECONDS, **pragmas: int) -> Iterator[FaultyStore]:
    """Open a store in a file in a directory, which is made if need be.

    :param patience: how many seconds it waits for another process.
    """
    engine = open_engine(directory / "games.sqlite", {"synchronous": "OFF", **pragmas})
    migrate(engine)
    store = SqliteStore(engine, patience)
    try:
        yield FaultyStore(store)
    finally:
        store.close()


@asynccontextmanager
async def running_log(store: Store, *, by_thread: bool = False) -> AsyncIterator[BatchingLog]:
    """Run a log on a store; in PostgreSQL with a committer, as a daemon has it, unless the thread is to write."""
    committer = None
    if hasattr(store, "commit_connection") and not by_thread:
        from gmd.event_log.postgres_committer import PostgresCommitter

        committer = PostgresCommitter(store)  # type: ignore[arg-type]
    log = BatchingLog(store, committer=committer)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        if committer is not None:
            with trio.move_on_after(5):  # without a server the thread commits
                await committer.ready.wait()
        try:
            yield log
        finally:
            log.stop()
    log.close()


@asynccontextmanager
async def durable_daemon(store: Store, **settings: Any) -> AsyncIterator[MemoryDaemon]:
    """Run a :class:`MemoryDaemon` on a store; like a killed daemon it loses everything else at the end."""
    async with memory_daemon(BatchingLog(store), **settings) as daemon:
        yield daemon
