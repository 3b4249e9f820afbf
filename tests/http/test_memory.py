"""The memory of HTTP connections is bounded like that of sessions, and both count together."""

from __future__ import annotations

from contextlib import AsyncExitStack

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.daemon import Daemon
from tests.helpers import connected, running_daemon
from tests.http.helpers import open_http, read_to_end

#: The smallest permitted memory, of which connections may hold half.
MAX_MEMORY = 1 << 20
LIMIT = MAX_MEMORY // 2
BODY = 100_000
BODIES = 8

GET = b"GET %s HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST %s HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n"
#: A route that has a shortcut, and one that has none.
ROUTES = [b"/api/games/1/move", b"/api/users/me"]

REASON = (
    f"max_memory_per_address: this address makes the server hold more than {LIMIT} bytes; "
    "read the replies, complete the requests, and connect again later"
)


async def until_held(daemon: Daemon, size: int) -> None:
    """Return once connections hold this many bytes, or one has been cut off."""
    while daemon.memory.held < size and not daemon.memory.cut_off:
        await wait_all_tasks_blocked()


async def nothing_held(daemon: Daemon) -> None:
    """Return once connections hold nothing."""
    while daemon.memory.held:
        await wait_all_tasks_blocked()


async def is_well(daemon: Daemon) -> bool:
    async with await open_http(daemon) as stream:
        await stream.send_all(GET % b"/healthz")
        return (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("route", ROUTES)
async def test_largest_of_many_incomplete_bodies_are_cut_off_and_others_continue(route: bytes) -> None:
    async with running_daemon(http=True, http_port=0, max_memory=MAX_MEMORY) as daemon, AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(await open_http(daemon)) for _ in range(BODIES)]
        for number, stream in enumerate(streams, 1):
            await stream.send_all(POST % (route, BODY) + b" " * (BODY - 10))
            await until_held(daemon, number * BODY)
            assert daemon.memory.held <= LIMIT
            assert await is_well(daemon)
        cut_off = daemon.memory.cut_off
        assert 0 < cut_off < BODIES
        for stream in streams[:cut_off]:
            head, body = (await read_to_end(stream)).split(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            assert b"\r\nretry-after: 5\r\n" in head
            assert msgspec.json.decode(body) == {"error": REASON, "code": "too_many", "retry_after": 5}
        for stream in streams[cut_off:]:
            await stream.send_all(b" " * 10)
            assert b'"code":"too_many"' not in await stream.receive_some()
        await nothing_held(daemon)


async def test_frames_and_bodies_count_together() -> None:
    async with (
        running_daemon(http=True, http_port=0, max_memory=MAX_MEMORY) as daemon,
        await open_http(daemon) as stream,
        connected(daemon) as client,
    ):
        await stream.send_all(POST % (ROUTES[1], 400_000) + b" " * 300_000)
        await until_held(daemon, 300_000)
        await client.send_bytes((299_999).to_bytes(4, "big") + b" " * 250_000)
        assert (await read_to_end(stream)).startswith(b"HTTP/1.1 503 ")
        await client.send_bytes(b" " * 49_999)
        assert (await client.receive())["code"] == "bad_json"


async def test_clients_with_the_most_unread_responses_are_cut_off() -> None:
    settings = {"http": True, "http_port": 0, "max_memory": MAX_MEMORY}
    async with running_daemon(**settings) as daemon, AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(await open_http(daemon)) for _ in range(20)]
        async with trio.open_nursery() as nursery:
            for stream in streams:
                nursery.start_soon(ask_for_ever, stream)
            while not daemon.memory.cut_off:
                assert daemon.memory.held <= LIMIT
                assert await is_well(daemon)
            nursery.cancel_scope.cancel()
    assert daemon.memory.held == 0


async def ask_for_ever(stream: trio.SocketStream) -> None:
    """Send requests and read nothing."""
    try:
        while True:
            await stream.send_all(GET % b"/schema/openapi.json")
    except trio.BrokenResourceError:
        pass


@pytest.mark.parametrize(
    ("how", "route"), [(how, ROUTES[0]) for how in ("closed", "lost", "too slow", "stopped")] + [("lost", ROUTES[1])]
)
async def test_memory_is_freed_however_a_connection_ends(how: str, route: bytes, autojump_clock: MockClock) -> None:
    async with running_daemon(http=True, http_port=0, stop_timeout=1) as daemon:
        stream = await open_http(daemon)
        await stream.send_all(POST % (route, BODY) + b" " * (BODY - 10))
        await until_held(daemon, BODY)
        if how == "closed":
            await stream.send_eof()
        elif how == "lost":
            await stream.aclose()
        if how != "stopped":
            await trio.sleep(31)
            assert daemon.memory.held == 0
    assert daemon.memory.held == 0
    await stream.aclose()


async def test_kept_connection_holds_nothing_between_requests() -> None:
    async with running_daemon(http=True, http_port=0) as daemon, await open_http(daemon) as stream:
        for route in ROUTES:
            await stream.send_all(POST % (route, BODY) + b" " * BODY)
            assert b'"code":' in await stream.receive_some()
            await nothing_held(daemon)


async def test_connections_of_a_trusted_proxy_are_not_limited_to_one_address() -> None:
    settings = {"max_memory_per_address": 1 << 16, "trusted_proxies": "127.0.0.1"}
    async with running_daemon(http=True, http_port=0, **settings) as daemon, await open_http(daemon) as stream:
        await stream.send_all(POST % (ROUTES[0], BODY) + b" " * (BODY - 10))
        await until_held(daemon, BODY)
        assert daemon.memory.by_address()[""] > 1 << 16
        await stream.send_all(b" " * 10)
        assert b'"code":"too_many"' not in await stream.receive_some()
