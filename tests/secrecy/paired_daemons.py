"""Two daemons that receive the same requests and must answer the same, byte for byte.

The same players are registered in both, but with different keys. So a request contains :func:`key_of` a player where
that player's key belongs.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gm_protocol.framing import encode_frame
from gmd.players.account import FIRST_PLAYER, is_registered
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon

#: The observer, its opponent, and a player who has no part in any game; then the same as registered players.
OBSERVER, OPPONENT, STRANGER = 1, 2, 77
REGISTERED_OBSERVER, REGISTERED_OPPONENT, REGISTERED_STRANGER = range(FIRST_PLAYER, FIRST_PLAYER + 3)
OBSERVERS, OPPONENTS = (OBSERVER, REGISTERED_OBSERVER), (OPPONENT, REGISTERED_OPPONENT)
NAMES = {REGISTERED_OBSERVER: "observer", REGISTERED_OPPONENT: "opponent", REGISTERED_STRANGER: "stranger"}

#: The parts of a reply that no game decides: the wall clock (trio's own clock stands still between the steps of a
#: game), and a new key, which is random.
_NOT_COMPARED = re.compile(rb'"(?:created|changed|key)":"[^"]*"')
_KEY = "<the key of"

#: The most positions kept for a belief: in games with few senses there are soon very many.
MOST_POSITIONS = 100

#: Settings without limits on failed attempts and registrations.
UNLIMITED: dict[str, Any] = {"max_failures_per_minute": 10**9, "max_registrations_per_hour": 10**9}


def key_of(player: int) -> str:
    """Return the placeholder of a registered player's key in a request."""
    return f"{_KEY} {player}>"


def proof_of(player: int) -> Json:
    """Return the fields by which a request without a session acts as a player."""
    return {"player": player, "key": key_of(player)} if is_registered(player) else {"player": player}


class Distinguished(AssertionError):
    """The observer could tell which of the two daemons it speaks to."""


class Daemon:
    """One of the two daemons.

    :ivar asking: a session of each of the observer's players.
    :ivar waiting: another session, for requests that are answered later; the replies come to ``replies``.
    """

    def __init__(self, daemon: MemoryDaemon) -> None:
        self.daemon = daemon
        self.keys: dict[int, str] = {}
        self.asking: dict[int, Client] = {}
        self.waiting: dict[int, Client] = {}
        self.replies: list[bytes] = []

    async def open(self, nursery: trio.Nursery) -> None:
        """Register the players, and begin the sessions."""
        self.daemon.services.beliefs.cap = MOST_POSITIONS
        self._others = await self.daemon.connect()
        for player, name in NAMES.items():
            registered = await self._others.ask("register", name=name)
            assert registered["player"] == player
            self.keys[player] = registered["key"]
        for player in OBSERVERS:
            self.asking[player] = await self._session(player)
            self.waiting[player] = await self._session(player)
            nursery.start_soon(self._collect, self.waiting[player])

    async def _session(self, player: int) -> Client:
        client = await self.daemon.connect(hello=False)
        await client.send_bytes(self.frame({"kind": "hello", **proof_of(player)}))
        assert (await client.receive())["player"] == player
        return client

    async def _collect(self, client: Client) -> None:
        """Collect the replies to the observer's ``wait`` as they come."""
        while (body := await client.receive_body()) is not None:
            self.replies.append(body)

    def frame(self, request: Json) -> bytes:
        """Return a request as a frame for this daemon, with its own keys."""
        body = json.dumps(request)
        if _KEY in body:
            for player, key in self.keys.items():
                body = body.replace(key_of(player), key)
        return encode_frame(body.encode())

    async def act(self, kind: str, player: int, **fields: object) -> Json:
        """Send a player's request that must succeed, without showing the reply to the observer."""
        reply = await self.attempt(kind, player, **fields)
        assert reply["error"] is None, reply
        return reply

    async def act_all(self, requests: Sequence[Json]) -> None:
        """Send requests all at once, which must all succeed: one by one they would take three times as long."""
        await self._others.send_bytes(b"".join(map(self.frame, requests)))
        for request in requests:
            reply = await self._others.receive()
            assert reply["error"] is None, (request, reply)

    async def attempt(self, kind: str, player: int, **fields: object) -> Json:
        """Send a player's request, which may fail."""
        await self._others.send_bytes(self.frame({"kind": kind, "brief": True, **proof_of(player), **fields}))
        return await self._others.receive()


class PairedDaemons:
    """Both daemons.

    :ivar compared: how many replies were compared.
    """

    def __init__(self, daemons: Sequence[Daemon], clock: MockClock) -> None:
        self.daemons = daemons
        self.clock = clock
        self.compared = 0

    async def ask(self, *requests: Json, player: int = OBSERVER) -> list[bytes]:
        """Send requests to both, in a session of one of the observer's players, and return the replies, which are the
        same.
        """
        replies = []
        for daemon in self.daemons:
            client = daemon.asking[player]
            await client.send_bytes(b"".join(map(daemon.frame, requests)))
            replies.append([await _body(client) for _ in requests])
        for request, one, other in zip(requests, *replies, strict=True):
            self._compare(request, one, other)
        return replies[0]

    async def ask_alone(self, request: Json) -> None:
        """Send a request to both on a new connection: in a version 1 session, unless it is a ``hello``."""
        replies = []
        for daemon in self.daemons:
            client = await daemon.daemon.connect(hello=False)
            await client.send_bytes(daemon.frame(request))
            await client.end()
            replies.append(await _body(client))
            assert await client.closed()
        self._compare(request, *replies)

    async def act(self, kind: str, player: int, **fields: object) -> Json:
        """Do the same as a player in both, and return the first one's reply."""
        first, _ = [await daemon.act(kind, player, **fields) for daemon in self.daemons]
        return first

    async def begin_wait(self, request: Json, player: int) -> None:
        """Let one of the observer's players wait in both."""
        for daemon in self.daemons:
            daemon.replies.clear()
            await daemon.waiting[player].send_bytes(daemon.frame(request))
        await self.expect_quiet(request)

    async def expect_quiet(self, request: Json) -> None:
        """Assert that the ``wait`` has not been answered."""
        await wait_all_tasks_blocked()
        if any(daemon.replies for daemon in self.daemons):
            raise Distinguished(f"{request} was answered: {[daemon.replies for daemon in self.daemons]}")

    async def end_wait(self, request: Json) -> None:
        """Assert that the ``wait`` has been answered once in both, with the same bytes."""
        await wait_all_tasks_blocked()
        one, other = (daemon.replies for daemon in self.daemons)
        if (len(one), len(other)) != (1, 1):
            raise Distinguished(f"{request} was answered {len(one)} and {len(other)} times")
        self._compare(request, one[0], other[0])

    def _compare(self, request: Json, one: bytes, other: bytes) -> None:
        self.compared += 1
        if one != other and _NOT_COMPARED.sub(b"", one) != _NOT_COMPARED.sub(b"", other):
            raise Distinguished(f"{request}\n{one.decode()}\n{other.decode()}")


@asynccontextmanager
async def paired_daemons(clock: MockClock) -> AsyncIterator[PairedDaemons]:
    """Run two new daemons without limits on failed attempts and registrations."""
    async with (
        memory_daemon(**UNLIMITED) as one,
        memory_daemon(**UNLIMITED) as other,
        trio.open_nursery() as nursery,
    ):
        daemons = [Daemon(one), Daemon(other)]
        for daemon in daemons:
            await daemon.open(nursery)
        yield PairedDaemons(daemons, clock)
        nursery.cancel_scope.cancel()


async def _body(client: Client) -> bytes:
    body = await client.receive_body()
    assert body is not None, "the daemon closed the connection"
    return body
