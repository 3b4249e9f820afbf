"""A disk fails under a running daemon, call by call: nothing is acknowledged or shown that is not durable."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest

from tests.helpers import Client, Json
from tests.serving import Served, served
from tests.tools import require_tool

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="libraries are preloaded in another way here"),
]

FAILED: Json = {
    "state": None,
    "code": "internal",
    "error": "game 1: the event log cannot be written; nothing was done",
}


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library that a daemon preloads so that its disk can fail."""
    source, library = Path(__file__).with_name("faulty_disk.c"), tmp_path_factory.mktemp("disk") / "faulty_disk.so"
    compiler = require_tool("gcc")
    subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)
    return library


class Disk:
    """The disk of a daemon."""

    def __init__(self, directory: Path, library: Path) -> None:
        self._order = directory / "faults"
        self.data = directory / "data"
        self.env = {"LD_PRELOAD": str(library), "FAULTS": str(self._order)}

    @contextmanager
    def failing(self, what: str, number: int) -> Iterator[None]:
        """Make every "sync", "write" or "read" fail with an errno."""
        prepared = self._order.with_suffix(".new")
        prepared.write_text(f"{what} {number}\n", "ascii")
        prepared.rename(self._order)
        try:
            yield
        finally:
            self._order.unlink()


@pytest.fixture
def disk(preloaded: Path, tmp_path: Path) -> Disk:
    return Disk(tmp_path, preloaded)


@contextmanager
def daemon_on(disk: Disk) -> Iterator[Served]:
    with served("--data", str(disk.data), env=disk.env) as daemon:
        yield daemon


def said_by(daemon: Served) -> str:
    """Return everything that a daemon printed before it ended."""
    assert daemon.process.stdout is not None
    assert daemon.process.stderr is not None
    return daemon.process.stdout.read() + daemon.process.stderr.read()


async def move(client: Client, ply: int, text: str) -> Json:
    return await client.ask("move", game_id=1, player=1 + ply % 2, move=text, ply=ply, brief=True)


async def moves_of(client: Client) -> list[str]:
    moves: list[str] = (await client.ask("history", game_id=1))["moves"]
    return moves


@pytest.mark.parametrize(
    ("what", "number", "reason"),
    [
        pytest.param("sync", errno.EIO, "disk I/O error", id="fsync fails"),
        pytest.param("write", errno.EIO, "disk I/O error", id="writing fails", marks=pytest.mark.nightly),
        pytest.param("write", errno.ENOSPC, "database or disk is full", id="disk full"),
        pytest.param("write", errno.EROFS, "disk I/O error", id="read-only", marks=pytest.mark.nightly),
    ],
)
async def test_write_that_the_disk_refuses_is_refused_and_never_shown(
    what: str, number: int, reason: str, disk: Disk
) -> None:
    with daemon_on(disk) as daemon:
        async with daemon.client() as client, daemon.client() as waiter:
            await client.new_game()
            assert (await move(client, 0, "e4"))["error"] is None
            before = await client.ask("state", game_id=1)
            await waiter.send({"kind": "wait", "game_id": 1, "player": 1, "brief": True})
            for _ in range(5):  # after these replies the wait has begun
                await client.ask("ping")
            with disk.failing(what, number):
                for text in ("e5", "c5"):
                    assert await move(client, 1, text) == FAILED
                made = await client.ask("new_game", player_white=1, player_black=2, token="t")
                assert (made["code"], made["game_id"], made["state"]) == ("internal", None, None)
                assert await client.ask("state", game_id=1) == before
                assert (await client.ask("ping"))["error"] is None
            assert (await move(client, 1, "e6"))["error"] is None
            assert (await waiter.receive())["state"]["last_move"] == "e7e6"
            made = await client.ask("new_game", player_white=1, player_black=2, token="t")
            assert [row["game_id"] for row in (await client.ask("games"))["games"]] == [made["game_id"], 1]
        assert daemon.stop(SIGTERM) == 0
        said = said_by(daemon)
    assert "the event log cannot be written" in said
    assert reason in said
    assert "the event log can be written again" in said
    with daemon_on(disk) as daemon:
        async with daemon.client() as client:
            assert await moves_of(client) == ["e2e4", "e7e6"]


async def test_daemon_killed_while_its_disk_fails_loses_nothing(disk: Disk) -> None:
    """The refused move may be there: it was written, but was not known to be durable."""
    with daemon_on(disk) as daemon:
        async with daemon.client() as client:
            await client.new_game()
            for ply, text in enumerate(("e4", "e5", "Nf3")):
                assert (await move(client, ply, text))["error"] is None
            with disk.failing("sync", errno.EIO):
                assert await move(client, 3, "Nc6") == FAILED
                daemon.process.send_signal(SIGKILL)
                daemon.process.wait()
    with daemon_on(disk) as daemon:
        async with daemon.client() as client:
            moves = await moves_of(client)
            assert moves[:3] == ["e2e4", "e7e5", "g1f3"]
            assert moves[3:] in ([], ["b8c6"])
            assert (await move(client, 3, "Nc6"))["state"]["ply_index"] == 4  # the client may retry in either case


async def test_unreadable_game_is_read_when_the_disk_works_again(disk: Disk) -> None:
    with daemon_on(disk) as daemon:
        async with daemon.client() as client:
            await client.new_game()
            await move(client, 0, "e4")
        assert daemon.stop(SIGTERM) == 0
    with daemon_on(disk) as daemon:
        async with daemon.client() as client:
            with disk.failing("read", errno.EIO):
                assert await client.ask("state", game_id=1) == {
                    "code": "internal",
                    "error": "game 1: the event log cannot be read; nothing was done",
                }
            assert await moves_of(client) == ["e2e4"]
        assert daemon.stop(SIGTERM) == 0
        said = said_by(daemon)
    assert "the event log cannot be read" in said
