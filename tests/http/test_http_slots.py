"""HTTP connections when all slots are taken: each address gets a slot, and health checks are always answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from gmd.daemon import Daemon
from gmd.http.server import RESERVE, HttpServer
from gmd.net.connection_slots import Share
from gmd.net.proxies import Proxies
from tests.helpers import running_daemon
from tests.http.helpers import http_daemon, port_serving, read_to_end, scrape

pytestmark = pytest.mark.usefixtures("separate_loopback")

#: Addresses of this machine, each for a different client.
HOG, HONEST, OTHER = "127.0.0.2", "127.0.0.3", "127.0.0.4"
LIMIT = 3

GET = b"GET /%s HTTP/1.1\r\nHost: here\r\n\r\n"
HALF_HEAD = GET[:-2] % b""
HALF_BODY = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n12345"
FULL = b'{"error":"http_max_connections: 3 of 3 are open; try again later","code":"too_many","retry_after":5}'


def status(response: bytes) -> int:
    return int(response.split(b" ", 2)[1])


class Served:
    """A server whose requests for ``/hold`` are in progress until it stops; and connections to it."""

    server: HttpServer
    port: int

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.held = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/hold":
            self.held += 1
            await trio.sleep_forever()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"well", "more_body": False})

    async def connect(self, address: str, data: bytes = b"") -> trio.SocketStream:
        """Open a connection from an address, send some bytes, and return it once the server has read them."""
        stream = await trio.open_tcp_stream("127.0.0.1", self.port, local_address=address)
        self._stack.push_async_callback(trio.aclose_forcefully, stream)
        await stream.send_all(data)
        await self.settled()
        return stream

    async def settled(self) -> None:
        """Return once the server has read what was sent. (It is in the same process, and loopback loses nothing.)"""
        for _ in range(3):
            await trio.testing.wait_all_tasks_blocked(0.002)

    async def hold(self, address: str) -> trio.SocketStream:
        """Open a connection whose request is in progress."""
        before = self.held
        stream = await self.connect(address, GET % b"hold")
        while self.held == before:
            await trio.testing.wait_all_tasks_blocked()
        return stream

    async def ask(self, address: str, path: bytes = b"") -> tuple[trio.SocketStream, bytes]:
        """Open a connection, send one request, and return the connection and the response."""
        stream = await self.connect(address, GET % path)
        return stream, await response_of(stream)


async def response_of(stream: trio.SocketStream) -> bytes:
    response = b""
    while not response.endswith((b"well", b"}")):
        data = await stream.receive_some()
        assert data, response
        response += data
    return response


@asynccontextmanager
async def served(limit: int = LIMIT, **settings: Any) -> AsyncIterator[Served]:
    async with AsyncExitStack() as stack:
        one = Served(stack)
        one.server, one.port = await stack.enter_async_context(port_serving(one, limit, **settings))
        yield one


async def test_incomplete_heads_and_bodies_make_room_for_complete_requests() -> None:
    async with served() as one:
        silent, head, body = [await one.connect(HOG, data) for data in (b"", HALF_HEAD, HALF_BODY)]
        first, response = await one.ask(HOG)
        assert status(response) == 200
        assert await read_to_end(silent) == b""
        second, response = await one.ask(HOG)
        assert status(response) == 200
        third, response = await one.ask(HONEST)
        assert status(response) == 200
        for half in (head, body):
            response = await read_to_end(half)
            assert (status(response), response.partition(b"\r\n\r\n")[2]) == (503, FULL)
        assert one.server.evicted == 3
        for stream in (first, second, third):
            await stream.send_all(GET % b"again")
            assert status(await response_of(stream)) == 200


async def test_incomplete_head_on_a_used_connection_makes_room_too() -> None:
    async with served() as one:
        stream, _ = await one.ask(HOG)
        for _ in range(2):
            await one.ask(HOG)
        await stream.send_all(HALF_HEAD)
        await one.settled()
        await one.ask(HOG)
        assert status(await read_to_end(stream)) == 503


async def test_address_with_most_connections_makes_room_even_if_all_are_in_progress() -> None:
    async with served() as one:
        held = [await one.hold(HOG) for _ in range(LIMIT)]
        _, response = await one.ask(HONEST)
        assert status(response) == 200
        assert await held[0].receive_some() == b""  # cut off
        assert one.server.evicted == 1


async def test_address_is_limited_to_its_share() -> None:
    async with served(10, share=Share(2, 2)) as one:
        for _ in range(2):
            await one.hold(HOG)
        stream = await one.connect(HOG, GET % b"")
        response = await read_to_end(stream)
        assert status(response) == 503
        assert b"http_max_connections_per_address: 2 of 2 from this address are open; close some" in response
        _, response = await one.ask(HONEST)
        assert status(response) == 200


async def test_trusted_proxy_is_not_limited_to_a_share() -> None:
    async with served(3, share=Share(1, 1), proxies=Proxies.parse(HOG)) as one:
        for _ in range(3):
            await one.hold(HOG)
        response = await read_to_end(await one.connect(HONEST, GET % b""))
        assert status(response) == 503
        assert one.server.evicted == 0


async def test_health_is_answered_when_every_place_is_in_use() -> None:
    async with served(2) as one:
        for address in (HOG, HONEST):
            await one.hold(address)
        for path in (b"healthz", b"metrics", b"healthz?from=probe"):
            response = await read_to_end(await one.connect(OTHER, GET % path))
            assert (status(response), response.endswith(b"well")) == (200, True)
            assert b"connection: close\r\n" in response.lower()
        assert one.server.turned_away == 0
        for path in (b"", b"healthz/x", b"api/version"):
            response = await read_to_end(await one.connect(OTHER, GET % path))
            assert status(response) == 503
            assert b"\r\nretry-after: 5\r\n" in response
        assert one.server.turned_away == 3


async def test_incomplete_heads_in_the_reserve_make_room_for_health_checks(
    many_descriptors: None, mock_clock: MockClock
) -> None:
    async with served(1) as one:
        await one.hold(HOG)
        half = [await one.connect(HOG, HALF_HEAD) for _ in range(RESERVE)]
        response = await read_to_end(await one.connect(OTHER, GET % b"healthz"))
        assert status(response) == 200
        assert status(await read_to_end(half[0])) == 503


async def test_incomplete_head_in_the_reserve_times_out_after_two_seconds(autojump_clock: MockClock) -> None:
    async with served(1) as one:
        await one.hold(HOG)
        stream = await trio.open_tcp_stream("127.0.0.1", one.port, local_address=HOG)
        begun = trio.current_time()
        await stream.send_all(HALF_HEAD)
        assert await stream.receive_some() == b""
        assert 1.9 < trio.current_time() - begun < 2.2
        await stream.aclose()


async def test_incomplete_head_times_out_ten_seconds_after_its_first_byte(autojump_clock: MockClock) -> None:
    async with served() as one:
        stream = await trio.open_tcp_stream("127.0.0.1", one.port)
        await trio.sleep(15)
        begun = trio.current_time()
        await stream.send_all(HALF_HEAD)
        assert await stream.receive_some() == b""
        assert 9.9 < trio.current_time() - begun < 10.2
        await stream.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("count", [1_000])
async def test_thousand_incomplete_heads_do_not_affect_health_and_metrics(count: int, many_descriptors: None) -> None:
    async with running_daemon(http=True, http_port=0) as daemon, AsyncExitStack() as stack:
        for _ in range(count):
            stream = await open_from(daemon, HOG)
            stack.push_async_callback(trio.aclose_forcefully, stream)
            await stream.send_all(HALF_HEAD)
        for address in (HOG, HONEST):
            async with await open_from(daemon, address) as stream:
                await stream.send_all((GET % b"healthz").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
                assert status(await read_to_end(stream)) == 200


async def open_from(daemon: Daemon, address: str) -> trio.SocketStream:
    assert daemon.http_port is not None
    return await trio.open_tcp_stream("127.0.0.1", daemon.http_port, local_address=address)


async def test_evictions_are_counted_by_port() -> None:
    async with http_daemon(http_max_connections=2, max_connections=1) as (daemon, client):
        first = await scrape(client)
        assert first.value("gmd_connections_evicted_total", port="http") == 0
        assert first.value("gmd_connections_evicted_total", port="game") == 0
        silent = [await open_from(daemon, HOG) for _ in range(2)]
        silent.append(await trio.open_tcp_stream("127.0.0.1", daemon.port, local_address=HOG))
        while daemon.http is not None and daemon.http.server.evicted < 1:
            await trio.testing.wait_all_tasks_blocked()
        silent.append(await trio.open_tcp_stream("127.0.0.1", daemon.port, local_address=HOG))
        while daemon.session_server.evicted < 1:
            await trio.testing.wait_all_tasks_blocked()
        after = await scrape(client)
        evicted = after.value("gmd_connections_evicted_total", port="http")
        assert evicted is not None
        assert evicted >= 1
        assert after.value("gmd_connections_evicted_total", port="game") == 1
        for stream in silent:
            await stream.aclose()
