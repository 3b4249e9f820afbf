"""Chunked bodies: their parts take turns with other connections, and bodies in tiny chunks are refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from gmd.http.requests import LEAST_CHUNK, MANY_CHUNKS, PARTS
from gmd.net.fair_scheduler import FairScheduler
from tests.http.helpers import port_serving, read_to_end

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"


class CountingScheduler(FairScheduler):
    """A scheduler under which every connection has to wait, and which counts how often one does."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.waits = 0

    async def wait_turn(self, source: str) -> None:
        self.waits += 1
        await super().wait_turn(source)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Respond with the size of the body."""
    body = b"%d bytes" % len((await receive())["body"])
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


@asynccontextmanager
async def connected(scheduler: FairScheduler) -> AsyncIterator[trio.SocketStream]:
    """Yield a connection to an HTTP server."""
    async with (
        scheduler.running(),
        port_serving(echo, scheduler=scheduler) as (_, port),
        await trio.open_tcp_stream("127.0.0.1", port) as stream,
    ):
        yield stream


def chunks(number: int, size: int) -> bytes:
    return (b"%x\r\n" % size + bytes(size) + b"\r\n") * number


async def test_chunks_of_one_read_take_turns() -> None:
    scheduler, number = CountingScheduler(), 900
    async with connected(scheduler) as stream:
        await stream.send_all(HEAD + chunks(number, LEAST_CHUNK) + b"0\r\n\r\n")
        response = await read_to_end(stream)
    assert response.endswith(b"%d bytes" % (number * LEAST_CHUNK))
    assert scheduler.waits >= number // PARTS


@pytest.mark.parametrize(("number", "size"), [(MANY_CHUNKS - 1, 1), (9 * MANY_CHUNKS, LEAST_CHUNK)])
async def test_body_in_few_or_large_chunks_is_accepted(number: int, size: int) -> None:
    async with connected(FairScheduler()) as stream:
        await stream.send_all(HEAD + chunks(number, size) + b"0\r\n\r\n")
        assert (await read_to_end(stream)).endswith(b"%d bytes" % (number * size))


async def test_body_of_stated_length_may_come_in_tiny_pieces() -> None:
    number = 2 * MANY_CHUNKS
    async with connected(FairScheduler()) as stream:
        await stream.send_all(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % number)
        for _ in range(number):
            await stream.send_all(b"x")
            await trio.testing.wait_all_tasks_blocked()
        assert (await read_to_end(stream)).endswith(b"%d bytes" % number)
