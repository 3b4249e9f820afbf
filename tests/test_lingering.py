"""Closing without losing the last reply. The sockets are real, the time is the jumping clock's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import trio
from trio.testing import MockClock

from gmd.lingering import LINGER_BYTES, LINGER_SECONDS, LOOK_SECONDS, MAX_LINGERING, LingeringCloser


@asynccontextmanager
async def farewells() -> AsyncIterator[LingeringCloser]:
    """LingeringCloser that are looked after."""
    async with trio.open_nursery() as nursery:
        looked_after = LingeringCloser()
        nursery.start_soon(looked_after.run)
        yield looked_after
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def parting(looked_after: LingeringCloser) -> AsyncIterator[trio.SocketStream]:
    """The client's end of a connection that has just had its last reply."""
    ours, theirs = trio.socket.socketpair()
    looked_after.take(trio.SocketStream(theirs))
    client = trio.SocketStream(ours)
    yield client
    await trio.aclose_forcefully(client)


async def is_closed(client: trio.SocketStream) -> bool:
    """Whether the other end reads nothing any more."""
    try:
        await client.send_all(b"x")
    except trio.BrokenResourceError:
        return True
    return False


async def test_the_peer_sees_the_end_at_once_and_may_send_on(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after, parting(looked_after) as client:
        assert await client.receive_some() == b""
        assert trio.current_time() == 0
        await client.send_all(b"something")
        assert len(looked_after) == 1


async def test_it_is_closed_when_the_peer_closes(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after, parting(looked_after) as client:
        await client.aclose()
        await looked_after.wait_none()
        assert trio.current_time() == pytest.approx(LOOK_SECONDS)


async def test_it_is_closed_after_two_seconds(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after, parting(looked_after) as client:
        await looked_after.wait_none()
        assert trio.current_time() == pytest.approx(LINGER_SECONDS, abs=2 * LOOK_SECONDS)
        assert await is_closed(client)


async def test_it_is_closed_after_a_mebibyte(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after, parting(looked_after) as client:
        sent = 0
        while len(looked_after) and not await is_closed(client):
            await client.send_all(bytes(10_000))
            sent += 10_001
            await trio.sleep(LOOK_SECONDS / 10)
        assert LINGER_BYTES <= sent < LINGER_BYTES + 150_000
        assert trio.current_time() < LINGER_SECONDS


async def test_so_many_linger_and_no_more(autojump_clock: MockClock, many_descriptors: None) -> None:
    looked_after = LingeringCloser()
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(parting(looked_after)) for _ in range(MAX_LINGERING + 2)]
        assert len(looked_after) == MAX_LINGERING
        assert [await is_closed(client) for client in clients[:3]] == [True, True, False]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(looked_after.run)
            await looked_after.wait_none()
            nursery.cancel_scope.cancel()


async def test_stopping_closes_them_all(autojump_clock: MockClock) -> None:
    async with AsyncExitStack() as stack:
        async with farewells() as looked_after:
            client = await stack.enter_async_context(parting(looked_after))
        assert len(looked_after) == 0
        assert await is_closed(client)


async def test_after_that_whoever_opened_a_connection_closes_it(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after:
        pass
    ours, theirs = trio.socket.socketpair()
    stream = trio.SocketStream(theirs)
    looked_after.take(stream)
    assert len(looked_after) == 0
    await stream.aclose()
    assert await is_closed(trio.SocketStream(ours))
    ours.close()


async def test_a_peer_that_is_gone_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after:
        ours, theirs = trio.socket.socketpair()
        ours.close()
        looked_after.take(trio.SocketStream(theirs))
        await looked_after.wait_none()
        assert trio.current_time() <= LOOK_SECONDS


class LastReply:
    """A connection whose last reply has been sent and not yet read.

    :ivar received: when it was said that the client has it, in trio's time; None before.
    """

    def __init__(self, looked_after: LingeringCloser) -> None:
        ours, theirs = trio.socket.socketpair()
        theirs._sock.send(b"reply")
        self.client = ours
        self.received: float | None = None
        looked_after.take(trio.SocketStream(theirs), self._note)

    def _note(self) -> None:
        assert self.received is None
        self.received = trio.current_time()


async def test_the_last_reply_is_received_when_the_peer_has_read_it_and_closes(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after:
        last = LastReply(looked_after)
        await trio.sleep(LINGER_SECONDS / 2)
        assert await last.client.recv(5) == b"reply"
        assert last.received is None
        last.client.close()
        await looked_after.wait_none()
        assert last.received == pytest.approx(LINGER_SECONDS / 2, abs=2 * LOOK_SECONDS)


async def test_a_peer_that_ended_its_side_before_has_it_when_it_has_read_it(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after:
        last = LastReply(looked_after)
        last.client.shutdown(trio.socket.SHUT_WR)
        await trio.sleep(LINGER_SECONDS / 2)
        assert (last.received, len(looked_after)) == (None, 1)
        assert await last.client.recv(5) == b"reply"
        await looked_after.wait_none()
        assert last.received == pytest.approx(LINGER_SECONDS / 2, abs=2 * LOOK_SECONDS)
        last.client.close()


async def test_a_peer_that_reads_it_and_does_not_close_has_it_in_the_end(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after:
        last = LastReply(looked_after)
        assert await last.client.recv(5) == b"reply"
        await looked_after.wait_none()
        assert last.received == pytest.approx(LINGER_SECONDS, abs=2 * LOOK_SECONDS)
        last.client.close()


async def test_a_peer_that_never_reads_it_or_is_gone_has_it_not(autojump_clock: MockClock) -> None:
    async with farewells() as looked_after:
        unread, gone = LastReply(looked_after), LastReply(looked_after)
        gone.client.close()  # with the reply unread, which resets the connection
        await looked_after.wait_none()
        assert trio.current_time() == pytest.approx(LINGER_SECONDS, abs=2 * LOOK_SECONDS)
        assert unread.received is gone.received is None
        unread.client.close()
