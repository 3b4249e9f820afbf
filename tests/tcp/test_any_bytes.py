"""Whatever bytes a client sends, it gets JSON frames and then the end of the stream, and the server logs no failure."""

from __future__ import annotations

import json
import struct

import structlog
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MemoryReceiveStream, MemorySendStream, MockClock

from gm_protocol.framing import FrameDecoder, encode_frame
from gm_protocol.messages import REQUESTS
from tests.helpers import Json, memory_daemon, troubles

CODES = {"bad_frame", "bad_json", "bad_request", "unknown_kind", None}

bodies = st.one_of(
    st.binary(min_size=1, max_size=30),
    st.sampled_from(
        [b'{"kind":"hello"}', b'{"kind":"ping"}', b'{"kind":"hello","player":1}', b'{"kind":"wait"}', b"\0"]
    ),
    # hypothesis also draws texts that are constants in the code of the project.
    st.text(min_size=1, max_size=10)
    .filter(lambda text: text not in REQUESTS)
    .map(lambda text: json.dumps({"kind": text}).encode()),
)
streams = st.lists(
    st.one_of(
        bodies.map(encode_frame),
        bodies.map(encode_frame),
        st.binary(max_size=8),
        st.integers(-3, 60).map(struct.Struct(">i").pack),
    ),
    max_size=12,
).map(b"".join)


async def conversation(data: bytes) -> tuple[list[Json], list[Json]]:
    """Return all replies to a client that sends these bytes and no more, and what the server logs meanwhile."""
    with structlog.testing.capture_logs() as logged:
        async with memory_daemon() as daemon:
            client = await daemon.connect(hello=False)
            await client.send_bytes(data)
            await client.end()
            replies = []
            while (body := await client.receive_body()) is not None:
                replies.append(json.loads(body))
            while daemon.session_server.sessions:
                await trio.testing.wait_all_tasks_blocked()
    return replies, troubles(logged)


@given(streams)
def test_any_bytes_get_replies_and_then_the_end_of_the_stream(data: bytes) -> None:
    replies, logged = trio.run(conversation, data, clock=MockClock(autojump_threshold=0))
    assert logged == []
    assert {reply.get("code") for reply in replies} <= CODES
    decoder = FrameDecoder()
    decoder.feed(data)
    if decoder.pending:
        assert replies
    else:
        assert replies == []


async def test_every_reply_is_compact_json_and_leaves_in_one_write_with_its_header() -> None:
    written: list[bytes] = []

    async def record() -> None:
        written.append(bytes(sending.get_data_nowait()))

    sending, receiving = MemorySendStream(record), MemoryReceiveStream()
    requests: list[Json] = [
        {"kind": "hello"},
        {"kind": "new_game", "player_white": 1, "player_black": 2, "variant": "crazyhouse", "clock": {"initial": 60}},
        {"kind": "move", "player": 1, "game_id": 1, "move": "e4"},
        {"kind": "games"},
        {"kind": "history", "game_id": 1},
        {"kind": "nothing"},
    ]
    async with memory_daemon() as daemon:
        daemon.serve(trio.StapledStream(sending, receiving))
        for number, request in enumerate(requests):
            receiving.put_data(encode_frame(json.dumps(request).encode()))
            while len(written) == number:
                await trio.testing.wait_all_tasks_blocked()
            assert_one_frame(written[number])


def assert_one_frame(data: bytes) -> None:
    (length,) = struct.unpack(">i", data[:4])
    assert length == len(data) - 4
    reply = json.loads(data[4:])
    assert json.dumps(reply, separators=(",", ":"), ensure_ascii=False).encode() == data[4:]
