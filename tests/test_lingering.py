"""Connections close without losing the last reply. The sockets are real; the time is the autojump clock's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
import trio
from trio.testing import MockClock

from gmd.net.lingering import LINGER_BYTES, LINGER_SECONDS, LOOK_SECONDS, MAX_LINGERING, LingeringCloser


@asynccontextmanager
async def running_closer() -> AsyncIterator[LingeringCloser]:
    """Run a LingeringCloser."""
    async with trio.open_nursery() as nursery:
        closer = LingeringCloser()
        nursery.start_soon(closer.run)
        yield closer
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def lingering(closer: LingeringCloser) -> AsyncIterator[trio.SocketStream]:
    """Yield the client's end of a connection that has just been sent its last reply."""
    ours, theirs = trio.socket.socketpair()
    closer.take(trio.SocketStream(theirs))
    client = trio.SocketStream(ours)
    yield client
    await trio.aclose_forcefully(client)


async def is_closed(client: trio.SocketStream) -> bool:
    """Return whether the other end has been closed."""
    try:
        await client.send_all(b"x")
    except trio.BrokenResourceError:
        return True
    return False


async def test_peer_sees_the_end_at_once_and_may_still_send(autojump_clock: MockClock) -> None:
    async with running_closer() as closer, lingering(closer) as client:
        assert await client.receive_some() == b""
        assert trio.current_time() == 0
        await client.send_all(b"something")
        assert len(closer) == 1


async def test_connection_is_closed_when_the_peer_closes(autojump_clock: MockClock) -> None:
    async with running_closer() as closer, lingering(closer) as client:
        await client.aclose()
        await closer.wait_none()
        assert trio.current_time() == pytest.approx(LOOK_SECONDS)


async def test_connection_is_closed_after_two_seconds(autojump_clock: MockClock) -> None:
    async with running_closer() as closer, lingering(closer) as client:
        await closer.wait_none()
        assert trio.current_time() == pytest.approx(LINGER_SECONDS, abs=2 * LOOK_SECONDS)
        assert await is_closed(client)


async def test_connection_is_closed_after_a_mebibyte(autojump_clock: MockClock) -> None:
    async with running_closer() as closer, lingering(closer) as client:
        sent = 0
        with suppress(trio.BrokenResourceError):  # it may be closed between a look and the next send
            while len(closer) and not await is_closed(client):
                sent += 10_001
                await client.send_all(bytes(10_000))
                await trio.sleep(LOOK_SECONDS / 10)
        assert LINGER_BYTES <= sent < LINGER_BYTES + 150_000
        assert trio.current_time() < LINGER_SECONDS


@pytest.mark.slow
async def test_number_of_lingering_connections_is_bounded(autojump_clock: MockClock, many_descriptors: None) -> None:
    closer = LingeringCloser()
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(lingering(closer)) for _ in range(MAX_LINGERING + 2)]
        assert len(closer) == MAX_LINGERING
        assert [await is_closed(client) for client in clients[:3]] == [True, True, False]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(closer.run)
            await closer.wait_none()
            nursery.cancel_scope.cancel()


async def test_stopping_closes_all_lingering_connections(autojump_clock: MockClock) -> None:
    async with AsyncExitStack() as stack:
        async with running_closer() as closer:
            client = await stack.enter_async_context(lingering(closer))
        assert len(closer) == 0
        assert await is_closed(client)


async def test_connection_taken_after_the_stop_is_closed_by_its_opener(autojump_clock: MockClock) -> None:
    async with running_closer() as closer:
        pass
    ours, theirs = trio.socket.socketpair()
    stream = trio.SocketStream(theirs)
    closer.take(stream)
    assert len(closer) == 0
    await stream.aclose()
    assert await is_closed(trio.SocketStream(ours))
    ours.close()


async def test_connection_is_closed_at_once_when_the_peer_is_already_gone(autojump_clock: MockClock) -> None:
    async with running_closer() as closer:
        ours, theirs = trio.socket.socketpair()
        ours.close()
        closer.take(trio.SocketStream(theirs))
        await closer.wait_none()
        assert trio.current_time() <= LOOK_SECONDS


class LastReply:
    """A connection whose last reply has been sent and not yet read.

    :ivar received: when the reply was reported as received, in trio's time; None before.
    """

    def __init__(self, closer: LingeringCloser) -> None:
        ours, theirs = trio.socket.socketpair()
        theirs._sock.send(b"reply")
        self.client = ours
        self.received: float | None = None
        closer.take(trio.SocketStream(theirs), self._note)

    def _note(self) -> None:
        assert self.received is None
        self.received = trio.current_time()


async def test_last_reply_is_received_when_the_peer_has_read_it_and_closes(autojump_clock: MockClock) -> None:
    async with running_closer() as closer:
        last = LastReply(closer)
        await trio.sleep(LINGER_SECONDS / 2)
        assert await last.client.recv(5) == b"reply"
        assert last.received is None
        last.client.close()
        await closer.wait_none()
        assert last.received == pytest.approx(LINGER_SECONDS / 2, abs=2 * LOOK_SECONDS)


async def test_last_reply_is_received_when_a_half_closed_peer_has_read_it(autojump_clock: MockClock) -> None:
    async with running_closer() as closer:
        last = LastReply(closer)
        last.client.shutdown(trio.socket.SHUT_WR)
        await trio.sleep(LINGER_SECONDS / 2)
        assert (last.received, len(closer)) == (None, 1)
        assert await last.client.recv(5) == b"reply"
        await closer.wait_none()
        assert last.received == pytest.approx(LINGER_SECONDS / 2, abs=2 * LOOK_SECONDS)
        last.client.close()


async def test_last_reply_is_received_at_the_timeout_when_the_peer_stays_open(autojump_clock: MockClock) -> None:
    async with running_closer() as closer:
        last = LastReply(closer)
        assert await last.client.recv(5) == b"reply"
        await closer.wait_none()
        assert last.received == pytest.approx(LINGER_SECONDS, abs=2 * LOOK_SECONDS)
        last.client.close()


async def test_last_reply_is_not_received_when_the_peer_never_reads_it_or_resets(autojump_clock: MockClock) -> None:
    async with running_closer() as closer:
        unread, gone = LastReply(closer), LastReply(closer)
        gone.client.close()  # with the reply unread, which resets the connection
        await closer.wait_none()
        assert trio.current_time() == pytest.approx(LINGER_SECONDS, abs=2 * LOOK_SECONDS)
        assert unread.received is gone.received is None
        unread.client.close()
