"""Other clients notice nothing of many, slow, or too many clients."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from gm_protocol.framing import encode_frame
from gmd.daemon import Daemon
from tests.helpers import Client, Json, connected, running_daemon
from tests.serving import served

#: Seconds after which a test that would otherwise wait forever fails.
PATIENCE_SECONDS = 60

TOO_MANY: Json = {
    "code": "too_many",
    "retry_after": 5.0,
    "error": "max_connections: 3 of 3 are open; try again later",
}


@asynccontextmanager
async def crowd(port: int, size: int, *, hello: bool = False) -> AsyncIterator[list[Client]]:
    """Open this many connections that send nothing, or only a hello."""
    clients = [Client(await trio.open_tcp_stream("127.0.0.1", port)) for _ in range(size)]
    try:
        if hello:
            for client in clients:
                assert (await client.ask("hello"))["error"] is None
        yield clients
    finally:
        for client in clients:
            await client.aclose()


async def accepted(daemon: Daemon, sessions: int) -> None:
    """Return once the daemon has this many sessions."""
    while daemon.session_server.sessions != sessions:
        await trio.testing.wait_all_tasks_blocked()


@pytest.mark.parametrize("idle", [100, pytest.param(1_000, marks=pytest.mark.slow)])
async def test_many_idle_clients_and_one_that_sends_slowly_do_not_delay_others(
    idle: int, many_descriptors: None
) -> None:
    slow_request = encode_frame(b'{"kind":"ping","id":"slow"}')
    async with running_daemon() as daemon, crowd(daemon.port, idle), connected(daemon) as slow:
        await accepted(daemon, idle + 1)
        async with connected(daemon) as client:
            await client.new_game()
            for ply, byte in enumerate(slow_request):
                await slow.send_bytes(bytes([byte]))
                move = ("Nf3", "Nf6", "Ng1", "Ng8")[ply % 4]
                reply = await client.ask("move", game_id=1, player=1 + ply % 2, move=move)
                assert (reply["error"], reply["state"]["ply_index"]) == (None, ply + 1)
        assert await slow.receive() == {"id": "slow", "error": None}


async def test_client_over_the_limit_gets_a_refusal_and_is_closed_until_there_is_room() -> None:
    async with running_daemon(max_connections=3) as daemon:
        async with connected(daemon) as inside, crowd(daemon.port, 2, hello=True) as idle:
            await accepted(daemon, 3)
            for sent_first in (b"", encode_frame(b'{"kind":"ping"}'.ljust(500_000))):
                async with connected(daemon, hello=False) as outside:
                    await outside.send_bytes(sent_first)
                    assert await outside.receive() == TOO_MANY
                    assert await outside.closed()
            assert await inside.ask("ping") == {"error": None}
            await idle[0].aclose()
            await accepted(daemon, 2)
            async with connected(daemon) as now_inside:
                assert await now_inside.ask("ping") == {"error": None}
        await accepted(daemon, 0)


async def test_refused_clients_that_do_not_leave_occupy_no_place() -> None:
    async with running_daemon(max_connections=3) as daemon, crowd(daemon.port, 3, hello=True) as inside:
        await accepted(daemon, 3)
        async with crowd(daemon.port, 50) as outside:
            for client in outside:
                assert await client.receive() == TOO_MANY
            await inside[0].aclose()
            await accepted(daemon, 2)
            async with connected(daemon) as client:
                assert await client.ask("ping") == {"error": None}


@pytest.mark.slow
async def test_daemon_without_file_descriptors_refuses_clients_and_its_accept_loop_goes_on() -> None:
    with served(limit="-n 40") as daemon, trio.fail_after(PATIENCE_SECONDS):
        async with crowd(daemon.port, 100) as clients:
            codes = [await code_of_hello(client) for client in clients]
            assert codes[0] is None
            assert "too_many" in codes
            assert set(codes) <= {None, "too_many", "lost"}
            for client in clients:
                await client.aclose()
        while await newcomers_code(daemon.port) == "too_many":
            pass  # the refused connections are still being closed


async def newcomers_code(port: int) -> str | None:
    async with crowd(port, 1) as (client,):
        return await code_of_hello(client)


async def code_of_hello(client: Client) -> str | None:
    """Return the code of the reply to a hello, or "lost" if the connection closed before the reply was read."""
    try:
        code: str | None = (await client.ask("hello")).get("code")
    except (trio.BrokenResourceError, EOFError):
        return "lost"
    return code


@pytest.mark.slow
async def test_daemon_raises_its_soft_limit_of_file_descriptors_to_the_hard_limit() -> None:
    with served(limit="-S -n 40") as daemon, trio.fail_after(PATIENCE_SECONDS):
        async with crowd(daemon.port, 100) as clients:
            for client in clients:
                assert (await client.ask("hello"))["error"] is None
            for client in clients:
                assert await client.ask("ping") == {"error": None}
