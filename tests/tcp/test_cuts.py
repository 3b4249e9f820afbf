"""Connections that end in the wrong place, and clients that send more when they should not."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog
import trio
import trio.testing

from gm_protocol.framing import encode_frame
from gmd.daemon import Daemon
from tests.helpers import Client, Json, connected, running_daemon, troubles

HELLO = encode_frame(b'{"kind":"hello","player":1}')
MOVE = encode_frame(b'{"kind":"move","player":1,"game_id":1,"move":"e4"}')
PING = encode_frame(b'{"kind":"ping"}')
#: Closing a socket with this option sends a reset.
RESET = struct.pack("ii", 1, 0)


@asynccontextmanager
async def quiet_daemon(**settings: Any) -> AsyncIterator[Daemon]:
    """Run a daemon with one game; it must log no failure and be healthy at the end."""
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(**settings) as daemon:
            async with connected(daemon) as client:
                await client.new_game()
            yield daemon
            await no_sessions(daemon)
            async with connected(daemon) as client:
                assert (await client.ask("state", game_id=1))["error"] is None
    assert troubles(logged) == []


async def no_sessions(daemon: Daemon) -> None:
    while daemon.session_server.sessions:
        await trio.testing.wait_all_tasks_blocked()


async def reset(client: Client) -> None:
    """Close the connection so that the other end sees a reset."""
    assert isinstance(client.stream, trio.SocketStream)
    client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    await client.aclose()


async def ply_of_the_game(daemon: Daemon) -> int:
    return (await daemon.arbiter.live_game(1)).game.now.ply


@pytest.mark.parametrize("before", [b"", HELLO, HELLO + PING], ids=["first", "behind hello", "behind ping"])
async def test_end_of_stream_at_every_byte_of_a_request_is_bad_frame(before: bytes) -> None:
    async with quiet_daemon() as daemon:
        for size in range(1, len(MOVE)):
            async with connected(daemon, hello=False) as client:
                await client.send_bytes(before + MOVE[:size])
                await client.end()
                for _ in range((len(before) > 0) + (PING in before)):
                    assert (await client.receive())["error"] is None
                assert await client.receive() == {
                    "code": "bad_frame",
                    "error": f"the connection ended inside a frame, {size} bytes into it",
                }
                assert await client.closed()
        assert await ply_of_the_game(daemon) == 0


@pytest.mark.parametrize("before", [b"", HELLO], ids=["first", "behind hello"])
async def test_reset_at_every_byte_of_a_request_harms_no_other_client(before: bytes) -> None:
    async with quiet_daemon() as daemon:
        for size in range(len(MOVE)):
            async with connected(daemon, hello=False) as client:
                await client.send_bytes(before + MOVE[:size])
                await reset(client)
        await no_sessions(daemon)
        assert await ply_of_the_game(daemon) == 0


async def test_reset_before_the_reply_is_read_loses_only_the_reply() -> None:
    async with quiet_daemon() as daemon, connected(daemon, player=1) as client:
        await client.send_bytes(MOVE)
        while await ply_of_the_game(daemon) == 0:
            await trio.testing.wait_all_tasks_blocked()
        await reset(client)


async def test_reset_during_a_wait_is_not_logged_as_a_failure() -> None:
    async with quiet_daemon() as daemon:
        for request in ({"player": 2, "game_id": 1}, {"player": 2, "any": True}, {"game_id": 1, "ply": 0}):
            async with connected(daemon) as client:
                await client.send({"kind": "wait", **request})
                await trio.testing.wait_all_tasks_blocked()
                await reset(client)


@pytest.mark.parametrize("length", [0, -1, -(1 << 31), (1 << 20) + 1, (1 << 31) - 1])
async def test_framing_error_is_answered_after_earlier_requests_and_no_later_request_is_executed(length: int) -> None:
    async with quiet_daemon() as daemon, connected(daemon, player=1) as client:
        await client.send_bytes(PING * 40 + struct.pack(">i", length) + MOVE + b"{}" * 10)
        for _ in range(40):
            assert await client.receive() == {"error": None}
        reply = await client.receive()
        assert (set(reply), reply["code"]) == ({"code", "error"}, "bad_frame")
        assert f"frame length {length} is not" in reply["error"]
        assert await client.closed()
        assert await ply_of_the_game(daemon) == 0


async def test_message_limit_is_the_configured_one() -> None:
    async with quiet_daemon(max_message=2000) as daemon:
        for size, code in ((2000, None), (2001, "bad_frame")):
            async with connected(daemon) as client:
                await client.send_bytes(encode_frame(b'{"kind":"ping"}'.ljust(size)))
                assert (await client.receive()).get("code") == code


#: More than two socket buffers hold, less than the daemon discards.
JUNK = bytes(900_000)


@pytest.mark.parametrize(
    ("sent", "code"),
    [(PING, None), (b"\0\0\0\0", "bad_frame"), (HELLO + PING + b"\xff\xff\xff\xff", "bad_frame")],
    ids=["version 1", "bad frame", "bad frame in a session"],
)
async def test_client_that_sends_on_still_receives_the_last_reply(sent: bytes, code: str | None) -> None:
    async with quiet_daemon() as daemon, connected(daemon, hello=False) as client:
        await client.send_bytes(sent)
        await client.send_bytes(JUNK)
        await client.end()
        replies = await rest(client)
        assert replies[-1].get("code") == code


async def rest(client: Client) -> list[Json]:
    """Return all replies until the server closes."""
    replies = []
    while (body := await client.receive_body()) is not None:
        replies.append(json.loads(body))
    return replies
