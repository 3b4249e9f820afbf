"""How long the server waits. The tests use the jumping clock, so that an hour passes at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from gm_protocol.framing import encode_frame
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon

PING = encode_frame(b'{"kind":"ping"}')
TOO_SLOW: Json = {
    "code": "bad_frame",
    "error": "a whole frame did not arrive within 30 seconds of its begin",
}


@asynccontextmanager
async def trickle(client: Client, data: bytes, seconds: float) -> AsyncIterator[None]:
    """Send ``data`` one byte at a time during the block, as long as the server lets us."""

    async def send() -> None:
        for byte in data:
            try:
                await client.send_bytes(bytes([byte]))
            except trio.BrokenResourceError:
                return
            await trio.sleep(seconds)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        yield
        nursery.cancel_scope.cancel()


async def test_client_that_sends_its_first_frame_byte_by_byte_still_has_30_seconds(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(hello=False)
        start = trio.current_time()
        await trio.sleep(29)
        async with trickle(client, PING, 0.5):
            assert await client.receive() == TOO_SLOW
            assert trio.current_time() - start == pytest.approx(30)
        assert await client.closed()


async def test_client_has_30_seconds_from_the_beginning_of_a_frame(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await trio.sleep(1000)
        start = trio.current_time()
        await client.send_bytes(PING[:1])
        assert await client.receive() == TOO_SLOW
        assert trio.current_time() - start == pytest.approx(30)
        assert await client.closed()


async def test_sending_byte_by_byte_extends_no_time_limit(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        start = trio.current_time()
        async with trickle(client, PING, 5):
            assert await client.receive() == TOO_SLOW
        assert trio.current_time() - start == pytest.approx(30)


async def test_frames_sent_slowly_but_within_the_limit_are_answered_without_end(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        seconds = 29 / len(PING)
        async with trickle(client, PING * 10, seconds):
            for _ in range(10):
                assert await client.receive() == {"error": None}
        assert trio.current_time() > 280


async def test_client_has_30_seconds_for_a_frame_begun_directly_after_another(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.send_bytes(PING + PING[:7])
        assert await client.receive() == {"error": None}
        start = trio.current_time()
        assert await client.receive() == TOO_SLOW
        assert trio.current_time() - start == pytest.approx(30)


async def test_silent_session_is_closed_after_an_hour_without_a_message(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        assert await client.closed()
        assert trio.current_time() == pytest.approx(3600)


async def test_every_request_restarts_the_hour(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        for _ in range(3):
            await trio.sleep(3599)
            assert await client.ask("ping") == {"error": None}
        start = trio.current_time()
        assert await client.closed()
        assert trio.current_time() - start == pytest.approx(3600)


async def test_silence_does_not_count_while_a_request_is_outstanding(autojump_clock: MockClock) -> None:
    async with memory_daemon(idle_timeout=10, max_wait=60) as daemon:
        client = await daemon.connect()
        await client.new_game()
        reply = await client.ask("wait", player=2, game_id=1)
        assert reply["error"] is None
        assert trio.current_time() == pytest.approx(60)
        assert await client.closed()
        assert trio.current_time() == pytest.approx(70)


async def test_time_limits_are_the_configured_ones(autojump_clock: MockClock) -> None:
    async with memory_daemon(frame_timeout=3, idle_timeout=50) as daemon:
        client = await daemon.connect(hello=False)
        assert (await client.receive())["code"] == "bad_frame"
        assert trio.current_time() == pytest.approx(3)
        client = await daemon.connect()
        start = trio.current_time()
        assert await client.closed()
        assert trio.current_time() - start == pytest.approx(50)


def lockstep(daemon: MemoryDaemon) -> Client:
    """Open a connection without buffers: the server sends only what the client reads at that moment."""
    ours, theirs = trio.testing.lockstep_stream_pair()
    daemon.serve(theirs)
    return Client(ours)


@pytest.mark.parametrize(
    "sent",
    [PING, encode_frame(b'{"kind":"hello"}'), b"\0\0\0\0"],
    ids=["version 1", "version 2", "bad frame"],
)
async def test_client_that_reads_nothing_for_30_seconds_is_closed(sent: bytes, autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = lockstep(daemon)
        await client.send_bytes(sent)
        with pytest.raises(trio.BrokenResourceError):
            await client.send_bytes(sent)  # the client reads nothing until the server closes
        assert trio.current_time() == pytest.approx(30)
        assert daemon.session_server.sessions == 0


async def test_client_that_reads_slowly_is_not_closed(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon, trio.open_nursery() as nursery:
        client = lockstep(daemon)
        long_requests = ({"kind": "ping", "id": "x" * 50_000} for _ in range(20))
        nursery.start_soon(client.send, {"kind": "hello"}, *long_requests)
        received = 0
        while received < 1_000_000:
            received += len(await client.stream.receive_some(4_000))
            await trio.sleep(1)
        assert trio.current_time() > 240
