"""A connection leaves nothing behind, however it ends: what the server answers must not grow without bounds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from trio.testing import wait_all_tasks_blocked

from gm_protocol.framing import HEADER, encode_frame
from gmd.http.connection import Connection
from gmd.http.pages.live_channel import Channel
from gmd.tcp.session import Session
from tests.helpers import connected, running_daemon
from tests.http.helpers import open_http, read_to_end

HELLO = encode_frame(b'{"kind":"hello","protocol":2}')
ENDS = {
    "a request": encode_frame(b'{"kind":"ping"}'),
    "no JSON": encode_frame(b"[" * 5_000),
    "no UTF-8": encode_frame(b"\xff"),
    "no kind": encode_frame(b'{"kind":"x"}'),
    "a wrong field": encode_frame(b'{"kind":"state","game_id":' + b"9" * 4_000 + b"}"),
    "no such game": encode_frame(b'{"kind":"state","game_id":9}'),
    "no frame": HEADER.pack(-1),
    "half a frame": encode_frame(b'{"kind":"ping"}')[:-3],
}
GET = b"GET /api/version HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST /api/users/ HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n{}"
HTTP_ENDS = {
    "a request": GET,
    "a whole body": POST % 2,
    "half a body": POST % 4,
    "half a head": GET[:-2],
    "no HTTP": b"\n",
    "no such page": GET.replace(b"/api/version", b"/nowhere"),
    "a stream": b"GET /events HTTP/1.1\r\nHost: here\r\n\r\n",
}


@contextmanager
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def number_of(*kinds: type) -> int:
    return sum(issubclass(type(each), kinds) for each in gc.get_objects())  # isinstance() would ask the objects


@pytest.mark.parametrize("first", [b"", HELLO])
async def test_session_is_forgotten_without_the_garbage_collector(first: bytes) -> None:
    async with running_daemon() as daemon:
        with no_collector():
            before = number_of(Session)
            for last, data in ENDS.items():
                for _ in range(3):
                    async with connected(daemon, hello=False) as client:
                        await client.send_bytes(first + data)
                        await client.end()
                        while await client.stream.receive_some():
                            pass
                for _ in range(3):
                    await wait_all_tasks_blocked(0.001)
                assert number_of(Session) == before, last


async def test_http_connection_is_forgotten_without_the_garbage_collector() -> None:
    async with running_daemon(http=True, http_port=0) as daemon:
        with no_collector():
            before = number_of(Connection, Channel)
            for last, data in HTTP_ENDS.items():
                async with await open_http(daemon) as stream:
                    await stream.send_all(data)
                    await stream.send_eof()
                    await read_to_end(stream)
                for _ in range(3):
                    await wait_all_tasks_blocked(0.001)
                assert number_of(Connection, Channel) == before, last
