"""A session leaves nothing behind, however it ends: what the server answers must not grow without bounds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from trio.testing import wait_all_tasks_blocked

from gm_protocol.framing import HEADER, encode_frame
from gmd.tcp.session import Session
from tests.helpers import connected, running_daemon

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


@contextmanager
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def sessions() -> int:
    return sum(isinstance(each, Session) for each in gc.get_objects())


@pytest.mark.parametrize("first", [b"", HELLO])
async def test_session_is_forgotten_without_the_garbage_collector(first: bytes) -> None:
    async with running_daemon() as daemon:
        with no_collector():
            before = sessions()
            for last, data in ENDS.items():
                for _ in range(3):
                    async with connected(daemon, hello=False) as client:
                        await client.send_bytes(first + data)
                        await client.end()
                        while await client.stream.receive_some():
                            pass
                for _ in range(3):
                    await wait_all_tasks_blocked(0.001)
                assert sessions() == before, last
