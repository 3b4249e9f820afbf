"""The operator's socket: who may connect to it, where it is, and that the operator can always connect."""

from __future__ import annotations

import os
import socket
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import structlog
import trio
import trio.testing

from gmd.net.listening import SOCKET_NAME
from gmd.tcp.listener import MAX_OPERATORS
from tests.helpers import Client, connected, running_daemon, troubles


@contextmanager
def short_path(data: Path) -> Iterator[str]:
    """Yield a path of the socket in a data directory that is no longer than an address may be."""
    descriptor = os.open(data, os.O_RDONLY)
    yield f"/proc/self/fd/{descriptor}/{SOCKET_NAME}"
    os.close(descriptor)


@asynccontextmanager
async def operator(data: Path) -> AsyncIterator[Client]:
    """Open a version 2 session on the socket in a data directory."""
    os_socket = trio.socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with short_path(data) as path:
        await os_socket.connect(path)
    client = Client(trio.SocketStream(os_socket))
    try:
        assert (await client.ask("hello"))["error"] is None
        yield client
    finally:
        await client.aclose()


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0, 0o777], ids=oct)
async def test_only_its_owner_may_use_the_operator_socket_whatever_the_umask(mask: int, tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon):
        pass
    with umask(mask):
        async with running_daemon(data=str(tmp_path)):
            mode = (tmp_path / SOCKET_NAME).stat().st_mode
    assert (stat.S_ISSOCK(mode), stat.S_IMODE(mode)) == (True, 0o600)


async def test_another_user_cannot_connect_to_the_operator_socket() -> None:
    """The data directory itself may be readable by everyone."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    # Python is started as root, since another user may have no access to where it is installed.
    attempt = """
import os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
socket.socket(socket.AF_UNIX).connect(sys.argv[1])
"""
    with tempfile.TemporaryDirectory(dir="/tmp") as data:
        os.chmod(data, 0o755)
        async with running_daemon(data=data):
            command = [sys.executable, "-c", attempt, f"{data}/{SOCKET_NAME}"]
            await trio.run_process([*command, "0"])
            ran = await trio.run_process([*command, "65534"], capture_stderr=True, check=False)
    assert ran.stderr.splitlines()[-1] == b"PermissionError: [Errno 13] Permission denied"


async def test_operator_socket_uses_the_same_protocol(tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path)) as daemon, operator(tmp_path) as client, connected(daemon) as player:
        assert (await client.new_game())["game_id"] == 1
        assert (await client.play(1, "e4", "e5"))["ply_index"] == 2
        assert (await player.ask("state", game_id=1))["state"]["ply_index"] == 2
        await client.end()
        assert await client.closed()


@pytest.mark.slow
async def test_operator_sessions_end_with_the_daemon_as_others_do(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        async with running_daemon(data=str(tmp_path)):
            client = await stack.enter_async_context(operator(tmp_path))
            await client.new_game()
            await client.send({"kind": "wait", "game_id": 1, "player": 2})
            await trio.testing.wait_all_tasks_blocked()
        assert (await client.receive())["state"]["turn"] == "white"
        assert await client.closed()


async def test_operator_socket_of_a_killed_daemon_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left_behind, short_path(tmp_path) as path:
        left_behind.bind(path)
    async with running_daemon(data=str(tmp_path)), operator(tmp_path) as client:
        assert await client.ask("ping") == {"error": None}
    assert not (tmp_path / SOCKET_NAME).exists()


async def test_other_file_at_the_operator_socket_path_is_left_alone_and_the_daemon_serves(tmp_path: Path) -> None:
    (tmp_path / SOCKET_NAME).write_text("mine")
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon) as client:
            assert await client.ask("ping") == {"error": None}
    assert (tmp_path / SOCKET_NAME).read_text() == "mine"
    assert troubles(logged) == [
        {
            "event": "no operator's socket",
            "log_level": "warning",
            "path": str(tmp_path / SOCKET_NAME),
            "reason": "something else is in its place; move it away",
        }
    ]


@pytest.mark.parametrize("length", [107, 108, 250])
async def test_operator_socket_path_may_be_longer_than_a_socket_address(length: int, tmp_path: Path) -> None:
    missing = length - len(str(tmp_path)) - len(SOCKET_NAME) - 2
    data = tmp_path / ("d" * missing)
    assert len(str(data / SOCKET_NAME)) == length
    async with running_daemon(data=str(data)):
        async with operator(data) as client:
            assert await client.ask("ping") == {"error": None}
        assert stat.S_IMODE((data / SOCKET_NAME).stat().st_mode) == 0o600
    assert not (data / SOCKET_NAME).exists()


async def test_operator_connects_when_the_server_is_full_and_takes_no_client_place(tmp_path: Path) -> None:
    async with (
        running_daemon(data=str(tmp_path), max_connections=1) as daemon,
        operator(tmp_path) as early,
        connected(daemon) as player,
        operator(tmp_path) as late,
    ):
        for client in (early, player, late):
            assert await client.ask("ping") == {"error": None}
        assert daemon.session_server.connections == 1


async def test_operator_sessions_over_their_limit_are_refused(tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path)), AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(operator(tmp_path)) for _ in range(MAX_OPERATORS)]
        for _ in range(2):
            with pytest.raises(AssertionError, match="8 of 8 are open"):
                await stack.enter_async_context(operator(tmp_path))
        assert await clients[0].ask("ping") == {"error": None}
