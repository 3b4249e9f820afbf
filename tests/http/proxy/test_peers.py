"""Whole responses are read as they were sent, however their bytes arrive."""

from __future__ import annotations

from contextlib import suppress

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from gmd.http.proxy.peers import PeerConnection, Whole

HEAD = b"HTTP/1.1 200 \r\ncontent-type: application/json\r\nContent-Length: %d\r\ndate: now\r\n\r\n"


async def answered(pieces: list[bytes]) -> Whole | None:
    """Return what is read of a response that comes in pieces and then breaks off; None if that is an error."""
    ours, theirs = (trio.SocketStream(each) for each in trio.socket.socketpair())
    async with ours, theirs:
        whole: list[Whole] = []

        async def ask() -> None:
            with suppress(trio.BrokenResourceError):
                whole.append(await PeerConnection(ours, 1).exchange(b"GET / HTTP/1.1\r\n\r\n"))
            nursery.cancel_scope.cancel()

        async def answer() -> None:
            assert await theirs.receive_some(100) == b"GET / HTTP/1.1\r\n\r\n"
            for piece in pieces:
                await theirs.send_all(piece)
                await trio.testing.wait_all_tasks_blocked()
            await theirs.aclose()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            nursery.start_soon(answer)
        return whole[0] if whole else None


@given(st.binary(max_size=40), st.lists(st.integers(1, 130), max_size=6))
def test_whole_response_is_the_same_however_it_is_cut(body: bytes, cuts: list[int]) -> None:
    data = HEAD % len(body) + body
    ends = [*sorted(cut for cut in cuts if cut < len(data)), len(data)]
    pieces = [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert trio.run(answered, [piece for piece in pieces if piece]) == Whole(200, data, False)


async def test_what_a_response_says_of_its_connection_is_left_out() -> None:
    data = b"HTTP/1.1 503 Busy\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"
    assert await answered([data]) == Whole(503, b"HTTP/1.1 503 Busy\r\ncontent-length: 2\r\n\r\n{}", True)


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [b"HTTP/1.1 200 \r\ncontent-le"],
        [HEAD % 5, b"1234"],
        [b"HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
        [b"x" * 70_000],
    ],
)
async def test_no_whole_response_is_a_lost_connection(pieces: list[bytes]) -> None:
    assert await answered(pieces) is None
