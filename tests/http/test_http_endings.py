"""A connection may have to end in the very turn of the loop in which a request arrives: no request is half done."""

from __future__ import annotations

import os
import socket
from typing import Any

import trio
import trio.testing
from trio.testing import MockClock

from gmd.http.server import HttpServer
from tests.http.helpers import PORT_LIMITS, ledger, port_serving, read_to_end

GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\n"

#: The two tasks of a turn run in either order.
TRIES = 16


class Application:
    """An application whose requests last some turns of the loop, as a request does that waits for a commit."""

    def __init__(self) -> None:
        self.begun = self.finished = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.begun += 1
        await trio.lowlevel.checkpoint()
        self.finished += 1
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"well", "more_body": False})


async def opened(port: int, data: bytes = b"") -> trio.SocketStream:
    """Return a connection whose first bytes the server has read."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    await stream.send_all(data)
    await trio.testing.wait_all_tasks_blocked(0.01)
    return stream


def send_now(stream: trio.SocketStream, data: bytes) -> None:
    """Send before the event loop looks for input again."""
    assert os.write(stream.socket.fileno(), data) == len(data)


async def test_request_that_arrives_as_the_connection_times_out_is_answered(mock_clock: MockClock) -> None:
    application = Application()
    async with port_serving(application) as (_, port):
        for before, rest in ((b"", GET), (GET[:9], GET[9:]), (POST, b"well")):
            async with await opened(port, before) as stream:
                send_now(stream, rest)
                mock_clock.jump(PORT_LIMITS.frame_seconds + 1)
                assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")
    assert application.begun == application.finished == 3


async def test_request_that_arrives_as_the_server_stops_is_answered(mock_clock: MockClock) -> None:
    application = Application()
    for _ in range(TRIES):
        async with port_serving(application) as (server, port), await opened(port) as stream:

            async def stop(server: HttpServer = server) -> None:
                await trio.sleep(1)
                await server.stop(1)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(stop)
                await trio.testing.wait_all_tasks_blocked()
                send_now(stream, GET)
                mock_clock.jump(1)
                response = await read_to_end(stream)
                nursery.cancel_scope.cancel()
        assert response.startswith(b"HTTP/1.1 200 ")
        assert response.endswith(b"\r\nconnection: close\r\n\r\nwell")
    assert application.begun == application.finished == TRIES


async def test_request_that_arrives_as_the_connection_is_evicted_is_answered() -> None:
    application = Application()
    for _ in range(TRIES):
        async with port_serving(application, 1) as (_, port), await opened(port) as stream:
            with socket.create_connection(("127.0.0.1", port)):
                await trio.lowlevel.checkpoint()  # it is accepted, and is given the slot in the next turn
                send_now(stream, GET)
                with trio.fail_after(5):
                    assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")
    assert application.begun == application.finished == TRIES


async def test_request_that_takes_too_much_memory_is_not_begun() -> None:
    application = Application()
    async with port_serving(application, memory=ledger(5_000)) as (_, port):
        async with await opened(port, POST.replace(b"4", b"6000") + bytes(6_000)) as stream:
            assert (await read_to_end(stream)).startswith(b"HTTP/1.1 503 ")
        assert application.begun == 0
        async with await opened(port, GET) as stream:
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")
