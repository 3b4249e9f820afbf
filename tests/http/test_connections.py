"""HTTP connections that are slow, idle, greedy or hostile cost little, and do not affect other connections."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import pytest
import structlog
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gmd.daemon import Daemon
from tests.helpers import running_daemon, troubles
from tests.http.helpers import open_http, read_to_end

GET = b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST /healthz HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n"
PLAIN_POST = b"POST /api/games/1/end_turn HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n{"
CHUNKED = b"POST /healthz HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
#: Size of the largest body, and the refusal of a larger one.
LIMIT = 4096
TOO_LARGE = b'{"error":"the body is larger than 4096 bytes","code":"bad_request"}'
TOO_TINY = b'{"error":"send the body in chunks of at least 64 bytes, or in one","code":"bad_request"}'


def daemon(**others: Any) -> AbstractAsyncContextManager[Daemon]:
    return running_daemon(http=True, http_port=0, max_message=LIMIT, **others)


def status(response: bytes) -> int:
    return int(response.split(b" ", 2)[1])


async def exchange(running: Daemon, request: bytes) -> bytes:
    """Send some bytes and return everything received until the connection ends."""
    async with await open_http(running) as stream, trio.open_nursery() as nursery:

        async def send() -> None:
            await stream.send_all(request)

        nursery.start_soon(send)
        response = await read_to_end(stream)
        nursery.cancel_scope.cancel()
    return response


async def is_well(running: Daemon) -> bool:
    return status(await exchange(running, GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))) == 200


async def test_silent_connection_is_closed(autojump_clock: MockClock) -> None:
    async with daemon(frame_timeout=30) as running, await open_http(running) as stream:
        assert await stream.receive_some() == b""
        assert 29.9 < trio.current_time() < 31


async def test_trickling_head_is_cut_off(autojump_clock: MockClock) -> None:
    async with daemon(frame_timeout=30) as running, await open_http(running) as stream, trio.open_nursery() as nursery:

        async def trickle() -> None:
            for byte in GET:
                await stream.send_all(bytes([byte]))
                await trio.sleep(5)

        nursery.start_soon(trickle)
        assert await stream.receive_some() == b""
        assert 9.9 < trio.current_time() < 11
        nursery.cancel_scope.cancel()


async def test_connection_is_kept_for_the_next_request_and_then_closed(autojump_clock: MockClock) -> None:
    async with daemon(frame_timeout=30) as running, await open_http(running) as stream:
        for _ in range(3):
            await stream.send_all(GET)
            response = b""
            while not response.endswith(b"}"):
                response += await stream.receive_some()
            assert status(response) == 200
            await trio.sleep(25)
        assert await stream.receive_some() == b""


async def test_incomplete_body_is_refused_after_the_timeout(autojump_clock: MockClock) -> None:
    async with daemon(frame_timeout=30) as running, await open_http(running) as stream:
        await stream.send_all(POST % 10 + b"12345")
        response = await read_to_end(stream)
        assert status(response) == 408
        assert response.endswith(b'{"error":"the whole body did not arrive within 30 seconds","code":"bad_request"}')


@pytest.mark.parametrize(
    ("request_", "refused", "reason"),
    [
        pytest.param(POST % (LIMIT + 1) + b"x" * (LIMIT + 1), 413, TOO_LARGE, id="a byte too long"),
        pytest.param(POST % 10**9 + b"x" * 10**6, 413, TOO_LARGE, id="and more to come"),
        pytest.param(CHUNKED + b"1000\r\n" + b"x" * LIMIT + b"\r\n1\r\nx\r\n", 413, TOO_LARGE, id="in chunks"),
        pytest.param(CHUNKED + (b"40\r\n" + b"x" * 64 + b"\r\n") * 10**4, 413, TOO_LARGE, id="in little chunks"),
        pytest.param(CHUNKED + b"1\r\nx\r\n" * 10**5, 400, TOO_TINY, id="in tiny chunks"),
    ],
)
async def test_sender_of_a_too_large_body_can_read_its_refusal(request_: bytes, refused: int, reason: bytes) -> None:
    async with daemon() as running:
        response = await exchange(running, request_)
        assert status(response) == refused
        assert response.endswith(reason)
        assert await is_well(running)


async def test_body_is_asked_for_unless_it_is_too_large() -> None:
    async with daemon() as running:
        expecting = (POST % LIMIT)[:-2] + b"Expect: 100-continue\r\n\r\n"
        async with await open_http(running) as stream:
            await stream.send_all(expecting)
            assert await stream.receive_some() == b"HTTP/1.1 100 Continue\r\n\r\n"
            await stream.send_all(bytes(LIMIT))
            assert status(await stream.receive_some()) == 405
        response = await exchange(running, expecting.replace(b"%d" % LIMIT, b"%d" % (LIMIT + 1)))
        assert status(response) == 413
        assert response.endswith(TOO_LARGE)


async def test_largest_body_is_accepted() -> None:
    async with daemon() as running:
        assert status(await exchange(running, POST % LIMIT + b"x" * LIMIT + GET + b"\r\n")) == 405


@pytest.mark.parametrize(
    ("request_", "part"),
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: " + b"x" * 20_000, b"request head", id="head"),
        pytest.param(CHUNKED + b"1;" + b"x" * 20_000, b"chunk header", id="chunk header"),
        pytest.param(CHUNKED + b"0\r\n" + b"A: b\r\n" * 4_000, b"trailers", id="trailers"),
    ],
)
async def test_too_large_head_or_part_of_a_chunked_body_is_refused(request_: bytes, part: bytes) -> None:
    async with daemon() as running:
        response = await exchange(running, request_)
        assert status(response) == 431
        assert b'{"error":"' + part + b': send at most 16384 bytes",' in response


@pytest.mark.slow
async def test_client_that_reads_no_response_is_cut_off(autojump_clock: MockClock) -> None:
    async with daemon(frame_timeout=30) as running, await open_http(running) as stream, trio.open_nursery() as nursery:

        async def ask() -> None:
            with suppress(trio.BrokenResourceError):
                while True:
                    await stream.send_all(GET.replace(b"healthz", b"metrics"))

        nursery.start_soon(ask)
        await trio.sleep(28)
        assert await is_well(running)
        await trio.sleep(0.5)
        assert running.http is not None
        assert running.http.server.connections == 1
        await trio.sleep(4)  # it is cut off after 30 seconds, and lingers for two
        assert running.http.server.connections == 0
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 9, 400, id="HTTP/2"),
        pytest.param(
            GET[:-2]
            + b"Connection: upgrade, http2-settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
            200,
            id="HTTP/2 wished for",
        ),
        pytest.param(
            GET[:-2] + b"Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            403,
            id="a websocket",
        ),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, id="TLS"),
        pytest.param(b'\0\0\0\x0f{"kind":"ping"}\r\n\r\n', 400, id="the game protocol"),
        pytest.param(b"GET http://elsewhere/healthz HTTP/1.0\r\n\r\n", 400, id="a proxy's request"),
        pytest.param(b"DELETE /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405, id="a wrong method"),
    ],
)
async def test_foreign_or_unsupported_request_is_refused(request_: bytes, expected: int) -> None:
    with structlog.testing.capture_logs() as logged:
        async with daemon() as running:
            assert status(await exchange(running, request_)) == expected
            assert await is_well(running)
    assert troubles(logged) == []


pieces = st.sampled_from(
    [
        GET,
        POST % 5 + b"hello",
        POST % 10**6,
        CHUNKED,
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: -1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /metrics HTTP/1.0\r\n\r\n",
        b"GET /%ff%00%2e%2e/%0a HTTP/1.1\r\nHost: \xff\r\nAccept: text/plain;version=\xe9\r\n\r\n",
        b"GET /schema?a=%ff&&&=;b HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT here:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]
) | st.binary(max_size=40)


async def whatever_comes(streams: list[bytes]) -> list[dict[str, object]]:
    with structlog.testing.capture_logs() as logged:
        async with daemon(frame_timeout=5) as running:
            for data in streams:
                async with await open_http(running) as stream:
                    try:
                        await stream.send_all(data)
                        await stream.send_eof()
                        await read_to_end(stream)
                    except trio.BrokenResourceError:
                        pass  # the server did not wait for the rest
            assert await is_well(running)
            await trio.sleep(10)
            assert running.http is not None
            assert running.http.server.connections == 0
    return troubles(logged)


@pytest.mark.slow
@given(st.lists(st.lists(pieces, max_size=6).map(b"".join), min_size=1, max_size=5))
def test_any_bytes_are_answered_or_cut_off_without_trouble(streams: list[bytes]) -> None:
    assert trio.run(whatever_comes, streams, clock=MockClock(autojump_threshold=0)) == []


async def test_stop_closes_idle_connections_at_once_and_others_soon() -> None:
    async with daemon() as running:
        idle, half, plain = [await open_http(running) for _ in range(3)]
        await half.send_all(POST % 10)
        await plain.send_all(PLAIN_POST)  # the shortcut reads this one
        assert running.http is not None
        while running.http.server.connections < 3:
            await trio.testing.wait_all_tasks_blocked()
    for stream in (idle, half, plain):
        assert await stream.receive_some() == b""
        await stream.aclose()
