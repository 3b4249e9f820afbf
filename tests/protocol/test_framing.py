"""Decoding of frames from a stream that is cut anywhere."""

from __future__ import annotations

import doctest
import struct
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol import framing
from gm_protocol.errors import BadFrame
from gm_protocol.framing import FrameDecoder, encode_frame

LIMIT = 40

bodies = st.binary(min_size=1, max_size=LIMIT)
#: Bytes that are often frames: whole ones, cut ones, and headers with any length.
streams = st.lists(
    st.one_of(
        bodies.map(encode_frame),
        st.binary(max_size=12),
        st.integers(-3, LIMIT + 3).map(struct.Struct(">i").pack),
    )
).map(b"".join)


def cut(data: bytes, sizes: Iterable[int]) -> list[bytes]:
    """Return ``data`` in pieces of these sizes, and the rest."""
    pieces = []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


def naive(data: bytes) -> tuple[list[bytes], str]:
    """Return the frames of a whole stream, and what follows them: "" (nothing), "partial" or "bad"."""
    found: list[bytes] = []
    while len(data) >= 4:
        length = int.from_bytes(data[:4], "big", signed=True)
        if not 1 <= length <= LIMIT:
            return found, "bad"
        if len(data) < 4 + length:
            break
        found.append(data[4 : 4 + length])
        data = data[4 + length :]
    return found, "partial" if data else ""


def drain(decoder: FrameDecoder) -> list[bytes]:
    return list(iter(decoder.next_frame, None))


def test_doctests_of_framing_pass() -> None:
    assert doctest.testmod(framing) == (0, 4)


def test_frame_is_a_network_order_length_and_the_body() -> None:
    assert encode_frame(b"{}") == b"\x00\x00\x00\x02{}"
    assert encode_frame(b"x" * 0x010203)[:4] == b"\x00\x01\x02\x03"


def test_frames_are_decoded_byte_by_byte() -> None:
    sent = [b"{}", b"x" * LIMIT, b"\x00"]
    decoder = FrameDecoder(LIMIT)
    received = []
    for byte in b"".join(map(encode_frame, sent)):
        decoder.feed(bytes([byte]))
        received += drain(decoder)
    assert received == sent
    decoder.at_end()


@given(st.lists(bodies, max_size=6), st.lists(st.integers(0, 20), max_size=40))
def test_frames_are_decoded_wherever_the_stream_is_cut(sent: list[bytes], sizes: list[int]) -> None:
    decoder = FrameDecoder(LIMIT)
    received = []
    for piece in cut(b"".join(map(encode_frame, sent)), sizes):
        decoder.feed(piece)
        received += drain(decoder)
    assert received == sent
    decoder.at_end()


@given(streams, st.lists(st.integers(0, 20), max_size=40))
def test_any_bytes_are_frames_a_partial_frame_or_bad(data: bytes, sizes: list[int]) -> None:
    decoder = FrameDecoder(LIMIT)
    received: list[bytes] = []
    end = ""
    for piece in cut(data, sizes):
        decoder.feed(piece)
        try:
            while (body := decoder.next_frame()) is not None:
                received.append(body)
        except BadFrame:
            end = "bad"
            break
    if not end and decoder.pending:
        end = "partial"
    assert (received, end) == naive(data)


@given(streams, st.lists(st.integers(0, 20), max_size=40))
def test_decoder_holds_at_most_one_frame_and_the_latest_bytes(data: bytes, sizes: list[int]) -> None:
    decoder = FrameDecoder(LIMIT)
    for piece in cut(data, sizes):
        decoder.feed(piece)
        assert decoder.pending <= 3 + LIMIT + len(piece)
        try:
            drain(decoder)
        except BadFrame:
            break
        assert decoder.pending <= 3 + LIMIT


@given(streams, st.lists(st.integers(0, 20), max_size=40))
def test_ready_says_whether_the_next_frame_is_complete_or_bad(data: bytes, sizes: list[int]) -> None:
    decoder = FrameDecoder(LIMIT)
    for piece in cut(data, sizes):
        decoder.feed(piece)
        ready = True
        while ready:
            ready = decoder.ready
            try:
                assert (decoder.next_frame() is not None) == ready
            except BadFrame:
                assert ready
                return


def test_memory_stays_within_the_limit() -> None:
    limit, fed = 1 << 20, 1 << 16
    frame, chunk = encode_frame(bytes(limit)), bytes(fed)
    tracemalloc.start()
    try:
        decoder = FrameDecoder(limit)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(3):
            for start in range(0, len(frame), fed):
                assert decoder.next_frame() is None
                decoder.feed(frame[start : start + fed])
            # A growing bytearray may take an eighth more than it needs.
            assert tracemalloc.get_traced_memory()[0] - before < 1.2 * (limit + fed)
            assert decoder.next_frame() == bytes(limit)
        decoder.feed(struct.pack(">i", limit + 1))
        for _ in range(3):
            with pytest.raises(BadFrame):
                decoder.next_frame()
        decoder.feed(chunk)
        assert tracemalloc.get_traced_memory()[0] - before < 2 * fed
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("length", [0, -1, -(2**31), LIMIT + 1, 2**31 - 1])
def test_length_out_of_range_is_bad_from_its_header_on(length: int) -> None:
    decoder = FrameDecoder(LIMIT)
    decoder.feed(encode_frame(b"{}") + struct.pack(">i", length))
    assert decoder.next_frame() == b"{}"
    message = (
        f"frame length {length} is not between 1 and {LIMIT}: "
        "send a 4-byte network-order length, then that many bytes of JSON"
    )
    for _ in range(2):
        with pytest.raises(BadFrame) as caught:
            decoder.next_frame()
        assert str(caught.value) == message
        decoder.feed(encode_frame(b"{}"))  # bytes after the bad frame are never read


def test_limit_itself_is_a_valid_length() -> None:
    decoder = FrameDecoder(LIMIT)
    decoder.feed(encode_frame(b"x" * LIMIT))
    assert decoder.next_frame() == b"x" * LIMIT


@pytest.mark.parametrize("size", range(1, 6))
def test_end_inside_a_frame_is_bad(size: int) -> None:
    decoder = FrameDecoder(LIMIT)
    decoder.feed(encode_frame(b"{}")[:size])
    with pytest.raises(BadFrame, match=f"^the connection ended inside a frame, {size} bytes into it$"):
        decoder.at_end()


@pytest.mark.parametrize("piece", [1, 10, 1_000, 65_536])
def test_memory_of_a_frame_grows_with_received_bytes_not_with_its_length(piece: int) -> None:
    size = 3 * piece if piece < 1_000 else 500_000
    decoder, sent = FrameDecoder(1 << 20), encode_frame(b" " * (1 << 20))[:size]
    for start in range(0, size, piece):
        decoder.feed(sent[start : start + piece])
        assert decoder.pending <= decoder.held <= decoder.pending * 9 / 8 + 16


def test_large_frame_is_freed_when_the_next_one_begins() -> None:
    decoder = FrameDecoder(1 << 20)
    decoder.feed(encode_frame(b" " * (1 << 20)) + b"\0\0")
    assert len(decoder.next_frame() or b"") == 1 << 20
    assert decoder.pending == 2
    assert decoder.held < 100
    decoder.feed(b"\0\x02{}")
    assert decoder.next_frame() == b"{}"


def test_cleared_decoder_holds_nothing_and_can_continue() -> None:
    decoder = FrameDecoder(LIMIT)
    decoder.feed(encode_frame(b"{}") + b"\0\0")
    assert decoder.next_frame() == b"{}"
    decoder.clear()
    assert (decoder.pending, decoder.ready, decoder.next_frame()) == (0, False, None)
    decoder.feed(encode_frame(b"[]"))
    assert decoder.next_frame() == b"[]"
