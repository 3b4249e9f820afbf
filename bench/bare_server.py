"""The peer of daemons on PostgreSQL: a bare trio server that commits each move with the log's statement, then answers.

``python -m bench.bare_server URL NUMBER OF`` owns the games whose ids leave the remainder NUMBER when divided by OF. It
knows no rules, keeps no game and checks nothing. A move of another one's game goes over a link of bare frames, and the
answer comes back as bytes. Nothing that acknowledges only what is durable can do much less.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from itertools import count

import msgspec
import psycopg
import trio
from psycopg.pq import ExecStatus

from gm_protocol.endings import ON
from gmd.event_log.postgres import PostgresStore
from gmd.event_log.postgres_batch import statement_for
from gmd.event_log.postgres_committer import numbered
from gmd.event_log.postgres_engine import open_engine
from gmd.event_log.returning import RETURN_SECONDS, Returning
from gmd.turn_ends import calling_at_turn_ends

from .load import HEADER, READ_SIZE, frame

#: The reply to a move; the daemon's has as many bytes.
MOVED = frame({"state": "x" * 1_270, "error": None})
#: A client's first frame on a link, and the bytes of the number before each body on it.
LINK, NUMBER_BYTES = b"link", 4
#: The event of a move, as text in an array of JSON.
_EVENT = r'"{\"event\":\"moved\",\"move\":\"g1f3\",\"seconds\":0.0}"'

Send = Callable[[bytes], None]


class Request(msgspec.Struct):
    """What is read of a request. ``addresses`` are those of all servers, with the kind ``peers``."""

    kind: str
    game_id: int = 0
    addresses: list[str] = []


_decode = msgspec.json.Decoder(Request).decode


class Committer:
    """Commits moves in batches as the log does, with its statement: while one is being committed, the next one gathers.

    :ivar commits: how many there were, and ``games``, how many games were in them.
    """

    def __init__(self, connection: psycopg.Connection[object], daemon: int) -> None:
        self._pgconn = connection.pgconn
        self._daemon = str(daemon).encode()
        sql, self._names = numbered(statement_for(False, True, True, False, False, True))
        self._pgconn.prepare(b"batch", sql.encode())
        self._pgconn.nonblocking = 1
        self.commits = self.games = 0
        self._events: dict[int, int] = {}
        self._returning = Returning(RETURN_SECONDS)
        self._gathering: dict[int, Callable[[], None]] = {}
        self._writing: dict[int, Callable[[], None]] = {}

    def commit(self, game_id: int, then: Callable[[], None]) -> None:
        """Call back once a game's next move is durable."""
        self._gathering[game_id] = then
        self._returning.gathered(game_id)

    def hand_over(self) -> None:
        """Begin to commit what has gathered, unless a batch is being committed."""
        if self._writing or not self._gathering or self._returning.is_awaited:
            return
        self._returning.handed_over()
        self._writing, self._gathering = self._gathering, {}
        games, events = list(self._writing), self._events
        seqs = [events.get(game, 1) for game in games]
        events.update({game: seq + 1 for game, seq in zip(games, seqs, strict=True)})
        shards = {game % 256 for game in games}
        ids = f"{{{','.join(map(str, games))}}}".encode()
        rows = ",".join(
            f'{{"game_id":{game},"expected":{seq},"events":1,"turn":"white","ply_index":{seq},"termination":"{ON}",'
            f'"seated":false}}'
            for game, seq in zip(games, seqs, strict=True)
        )
        parameters = {
            "changed": f"[{rows}]".encode(),
            "changed_count": str(len(games)).encode(),
            "event_games": ids,
            "event_seqs": f"{{{','.join(map(str, seqs))}}}".encode(),
            "event_texts": f"[{','.join([_EVENT] * len(games))}]".encode(),
            "daemon": self._daemon,
            "shards": f"{{{','.join(map(str, shards))}}}".encode(),
            "epochs": f"{{{','.join(['1'] * len(shards))}}}".encode(),
            "shard_count": str(len(shards)).encode(),
        }
        self._pgconn.send_query_prepared(b"batch", [parameters[name] for name in self._names])
        self._pgconn.flush()

    async def run(self, nursery: trio.Nursery) -> None:
        """Take the answers."""
        nursery.start_soon(self._returning.run)
        while True:
            await trio.lowlevel.wait_readable(self._pgconn.socket)
            self._pgconn.consume_input()
            while self._writing and not self._pgconn.is_busy():
                result = self._pgconn.get_result()
                if result is not None:
                    if result.status != ExecStatus.TUPLES_OK or result.get_value(0, 1) != b"%d" % len(self._writing):
                        raise RuntimeError(f"not written: {result.error_message!r}")
                    continue
                written, self._writing = self._writing, {}
                self.commits += 1
                self.games += len(written)
                self._returning.committed(written, self._gathering)
                self.hand_over()
                for then in written.values():
                    then()
                self._returning.settled()


class Link:
    """The way to another server: what is sent in one turn of the loop leaves together."""

    def __init__(self, server: Server, socket: trio.socket.SocketType) -> None:
        self.socket = socket
        self._server = server
        self._numbers = count()
        self._asked: dict[int, Send] = {}
        self._out: list[bytes] = []

    def ask(self, body: bytes, answered: Send) -> None:
        """Send a request's body, and call back with the reply's frame."""
        number = next(self._numbers)
        self._asked[number] = answered
        self.send(number.to_bytes(NUMBER_BYTES, "big"), body)

    def send(self, number: bytes, body: bytes) -> None:
        """Send at the end of the turn."""
        self._out += HEADER.pack(NUMBER_BYTES + len(body)), number, body
        self._server.links.add(self)

    def flush(self) -> None:
        """Write what was sent."""
        data, self._out = b"".join(self._out), []
        _write(self.socket, data)

    async def take_answers(self) -> None:
        """Call back with what comes."""
        async with aclosing(_bodies(self.socket)) as bodies:
            async for body in bodies:
                self._asked.pop(int.from_bytes(body[:NUMBER_BYTES], "big"))(body[NUMBER_BYTES:])


class Server:
    """A server, which owns some of the games.

    :ivar links: those with something to write at the end of this turn.
    """

    def __init__(self, committer: Committer, number: int, of: int, address: str, nursery: trio.Nursery) -> None:
        self.links: set[Link] = set()
        self._committer = committer
        self._number, self._of, self._nursery = number, of, nursery
        self._new = count(number + of, of)
        self._addresses = [address]
        self._peers: dict[int, Link] = {}

    def turn_ends(self, idle: bool) -> None:
        """Hand over what has gathered."""
        if idle:
            self._committer.hand_over()
            for link in self.links:
                link.flush()
            self.links.clear()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer a client, or another server."""
        socket = stream.socket
        send = partial(_write, socket)
        async with stream, aclosing(_bodies(socket)) as bodies:
            async for body in bodies:
                if body == LINK:
                    await self._serve_link(Link(self, socket), bodies)
                    return
                request = _decode(body)
                if request.kind == "move":
                    self._move(request.game_id, body, send)
                elif request.kind == "new_game":
                    send(frame({"game_id": next(self._new), "error": None}))
                elif request.kind == "state":
                    owner = request.game_id % self._of
                    home = {} if owner == self._number else {"home": self._addresses[owner]}
                    send(frame({**home, "error": None}))
                elif request.kind == "peers":
                    await self._connect(request.addresses)
                    send(frame({"error": None}))
                else:
                    counts = {"commits": self._committer.commits, "games": self._committer.games}
                    send(frame({**counts, "error": None}))

    def _move(self, game_id: int, body: bytes, send: Send) -> None:
        owner = game_id % self._of
        if owner == self._number:
            self._committer.commit(game_id, partial(send, MOVED))
        else:
            self._peers[owner].ask(body, send)

    async def _serve_link(self, link: Link, bodies: AsyncGenerator[bytes, None]) -> None:
        async for body in bodies:
            number, game_id = body[:NUMBER_BYTES], _decode(body[NUMBER_BYTES:]).game_id
            self._committer.commit(game_id, partial(link.send, number, MOVED))

    async def _connect(self, addresses: list[str]) -> None:
        self._addresses = addresses
        for number, address in enumerate(addresses):
            if number != self._number:
                host, _, port = address.rpartition(":")
                stream = await trio.open_tcp_stream(host, int(port))
                link = self._peers[number] = Link(self, stream.socket)
                _write(stream.socket, HEADER.pack(len(LINK)) + LINK)
                self._nursery.start_soon(link.take_answers)


def _write(socket: trio.socket.SocketType, data: bytes) -> None:
    if os.write(socket.fileno(), data) != len(data):
        raise RuntimeError("a socket was full: that would have been counted as less work")


async def _bodies(socket: trio.socket.SocketType) -> AsyncGenerator[bytes, None]:
    """Yield the bodies of frames until the other side closes."""
    buffer = bytearray()
    while True:
        await trio.lowlevel.wait_readable(socket)
        data = os.read(socket.fileno(), READ_SIZE)
        if not data:
            return
        buffer += data
        while len(buffer) >= HEADER.size:
            end = HEADER.size + HEADER.unpack_from(buffer)[0]
            if len(buffer) < end:
                break
            body = bytes(buffer[HEADER.size : end])
            del buffer[:end]
            yield body


async def main(url: str, number: int, of: int) -> None:
    """Serve on a free port, and print the address."""
    store = PostgresStore(open_engine(url))
    async with store.commit_connection() as connection, trio.open_nursery() as nursery:
        committer = Committer(connection, number + 1)
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        address = f"127.0.0.1:{listener.socket.getsockname()[1]}"
        server = Server(committer, number, of, address, nursery)
        nursery.start_soon(committer.run, nursery)
        with calling_at_turn_ends(server.turn_ends, _fail):
            print(f"bare server listening on {address}", flush=True)
            await trio.serve_listeners(server.serve, [listener])


def _fail(error: Exception) -> None:
    raise error


if __name__ == "__main__":
    trio.run(main, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
