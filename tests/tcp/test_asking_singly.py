"""The server does not read from a client that long sent one request at a time while its reply is held, until it
sends two.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gmd.tcp.conversation import SINGLES
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon
from tests.slow_log import SlowLog

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")


class Room:
    """A daemon whose commits become durable when a test says so, and a client that plays both sides of a game there."""

    def __init__(self, log: SlowLog, daemon: MemoryDaemon, client: Client) -> None:
        self.log = log
        self.daemon = daemon
        self.client = client
        self._plies = count()

    async def send_moves(self, moves: int = 1) -> None:
        """Send the next moves in one write, and let the daemon handle as many of them as it can."""
        plies = [next(self._plies) for _ in range(moves)]
        await self.send(*({"kind": "move", "player": 1 + ply % 2, "move": SHUFFLE[ply % 4]} for ply in plies))

    async def send(self, *requests: Json) -> None:
        """Send requests about the game."""
        await self.client.send(*({"game_id": 1, **request} for request in requests))
        await wait_all_tasks_blocked()

    def settle(self) -> None:
        """Make what was appended durable; the sessions that this wakes have not run yet."""
        commits, self.log.commits = self.log.commits, []
        for commit in commits:
            commit.settle(None)

    async def received(self, replies: int = 1) -> list[int]:
        """Return the plies of the next replies."""
        return [(await self.client.receive())["state"]["ply_index"] for _ in range(replies)]

    async def ask_singly(self) -> None:
        """Send moves singly until the server counts the client as one that sends single requests."""
        for ply in range(1, SINGLES + 2):
            await self.send_moves()
            self.settle()
            assert await self.received() == [ply]


def socket_client(daemon: MemoryDaemon) -> Client:
    """Return a connection through a real socket."""
    ours, theirs = (trio.SocketStream(trio.socket.from_stdlib_socket(end)) for end in socket.socketpair())
    daemon.serve(theirs)
    return Client(ours)


@asynccontextmanager
async def open_room(over: str = "a socket") -> AsyncIterator[Room]:
    """Run a daemon with a game that has begun."""
    log = SlowLog()
    async with memory_daemon(log) as daemon:
        client = socket_client(daemon) if over == "a socket" else await daemon.connect(hello=False)
        assert (await client.ask("hello", protocol=2))["error"] is None
        await client.new_game()
        log.slow = True
        yield Room(log, daemon, client)
        await client.aclose()


@pytest.mark.parametrize("over", ["a socket", "memory"])
async def test_server_reads_from_the_client_again_after_its_reply_and_always_once_it_sends_two(over: str) -> None:
    async with open_room(over) as room:
        await room.ask_singly()
        first = SINGLES + 2
        await room.send_moves()
        await room.send_moves(2)
        assert len(room.log.commits) == 1, "it is not listened to"
        room.settle()
        assert await room.received() == [first]
        await wait_all_tasks_blocked()
        assert len(room.log.commits) == 2, "nor was it forgotten"
        await room.send_moves()
        assert len(room.log.commits) == 3, "it is listened to: it has sent two"
        room.settle()
        assert await room.received(3) == [first + 1, first + 2, first + 3]


async def test_connection_that_breaks_as_its_reply_leaves_counts_as_lost() -> None:
    async with open_room() as room:
        await room.ask_singly()
        await room.send_moves()
        room.settle()
        break_off(room.client)  # before the session, which has been woken, reads
        await wait_all_tasks_blocked()
        assert room.daemon.services.metrics.sessions[2, "lost"] == 1
        assert room.log.commits == []


async def test_request_sent_before_the_reply_that_reports_a_game_end_does_not_acknowledge_that_end() -> None:
    async with open_room() as room:
        await room.ask_singly()
        await room.send({"kind": "end_game", "player": 1, "termination": "resignation_white"})
        await room.send({"kind": "ping"})
        room.settle()
        await wait_all_tasks_blocked()
        break_off(room.client)
        await wait_all_tasks_blocked()
        other = await room.daemon.connect()
        assert (await other.ask("wait", player=1, any=True, timeout=0))["game_id"] == 1


def break_off(client: Client) -> None:
    """Close the socket with a reply unread, which the other side sees as a reset."""
    assert isinstance(client.stream, trio.SocketStream)
    client.stream.socket.close()
