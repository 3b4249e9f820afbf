"""The daemon reports files of the log that were deleted or moved, while it has them open or after it was killed."""

from __future__ import annotations

import os
import shutil
from collections.abc import MutableMapping
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest
import structlog
import trio

from gmd.event_log.last_commit import FILE_NAME, LastCommit, read_last_commit, what_is_missing
from gmd.event_log.store import LAST_GAME_ID
from gmd.net.listening import SOCKET_NAME
from tests.helpers import Client, connected, running_daemon
from tests.serving import STOP_SECONDS, served

DELETED = "the write-ahead log was deleted while it was open"
MISSING = "commits are missing: the write-ahead log was deleted, or the file is an older one"

Logged = list[MutableMapping[str, Any]]


async def begin(client: Client, *moves: str) -> None:
    await client.new_game()
    await client.play(1, *moves)


async def entry_of(logged: Logged, event: str) -> MutableMapping[str, Any]:
    """Return the first entry whose event begins so, once it is logged."""
    while True:
        for entry in logged:
            if entry["event"].startswith(event):
                return entry
        await trio.sleep(0.01)


def killed(data: Path, to: Path, *without: str) -> Path:
    """Return a copy of a directory that a daemon has open, as a kill of all its processes leaves it.

    :param without: the files that are lost then.
    """
    shutil.copytree(data, to, ignore=shutil.ignore_patterns("*-shm", "lock", SOCKET_NAME, *without))
    return to


@pytest.mark.parametrize("idle", [False, pytest.param(True, marks=pytest.mark.slow)])  # it looks every two seconds
async def test_deleted_wal_is_reported_and_acknowledged_writes_survive_a_crash(idle: bool, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(data=str(data)) as daemon, connected(daemon) as client:
            await begin(client, "e4")
            (data / "games.sqlite-wal").unlink()
            if not idle:
                assert (await client.play(1, "e5", "Nf3", white_first=False))["ply_index"] == 3
                assert (await client.ask("register", name="ann"))["error"] is None
            assert (
                "restart the daemon, which makes a new one; nothing is lost"
                in ((await entry_of(logged, DELETED))["advice"])
            )
            crashed = killed(data, tmp_path / "crashed")
        async with running_daemon(data=str(crashed)) as daemon, connected(daemon) as client:
            assert (await client.ask("state", game_id=1))["state"]["ply_index"] == (1 if idle else 3)
            if not idle:
                assert (await client.ask("register", name="ann"))["code"] == "not_available"
    assert MISSING not in [entry["event"] for entry in logged]


async def test_moved_database_file_is_an_outage_until_it_is_back(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon) as client:
            await begin(client, "e4")
            (tmp_path / "games.sqlite").rename(tmp_path / "elsewhere")
            assert (await client.ask("move", game_id=1, player=2, move="e5"))["code"] == "internal"
            entry = await entry_of(logged, "the event log cannot be written")
            assert "was deleted, moved or replaced while it was open" in entry["reason"]
            assert daemon.arbiter.log.failure is not None
            (tmp_path / "elsewhere").rename(tmp_path / "games.sqlite")
            assert (await client.ask("move", game_id=1, player=2, move="e5"))["error"] is None


async def test_wal_deleted_after_a_crash_is_reported_at_the_next_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with running_daemon(data=str(data)) as daemon, connected(daemon) as client:
        await begin(client, "e4")
        crashed = killed(data, tmp_path / "crashed", "games.sqlite-wal")
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(data=str(crashed)) as daemon, connected(daemon) as client:
            entry = await entry_of(logged, MISSING)
            assert entry["missing"] == "game 1 had 2 events on disk, and the log has no such game"
            assert "put back games.sqlite with the games.sqlite-wal that belongs to it" in entry["advice"]
            assert (await client.new_game())["game_id"] == 2  # the id of the lost game was acknowledged


@pytest.mark.slow
async def test_older_database_file_is_reported_at_the_next_start(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon) as client:
            await begin(client, "e4")
        older = (tmp_path / "games.sqlite").read_bytes()
        async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon) as client:
            await client.play(1, "e5", white_first=False)
        assert MISSING not in [entry["event"] for entry in logged]
        (tmp_path / "games.sqlite").write_bytes(older)
        async with running_daemon(data=str(tmp_path)):
            entry = await entry_of(logged, MISSING)
            assert entry["missing"] == "game 1 had 3 events on disk, and the log has 2"


@pytest.mark.slow
async def test_killing_only_the_daemon_loses_no_commits(tmp_path: Path) -> None:
    """The commit process moves the write-ahead log into the file and deletes it."""
    with served("--data", str(tmp_path)) as daemon:
        async with daemon.client() as client:
            await begin(client, "e4")
        daemon.process.kill()
        daemon.process.wait()
    with served("--data", str(tmp_path)) as daemon:
        daemon.process.send_signal(SIGTERM)
        assert MISSING not in daemon.process.communicate(timeout=STOP_SECONDS)[1]
    assert read_last_commit(tmp_path) == LastCommit(1, 2, 1)


@pytest.mark.parametrize("content", ["", "1 2", "one two three", "\xff"])
def test_unreadable_last_commit_file_is_ignored(content: str, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(content)
    assert read_last_commit(tmp_path) is None


def test_pruned_game_is_not_reported_as_missing() -> None:
    last = LastCommit(7, 30, 9)
    assert what_is_missing(last, {7: None}.__getitem__) is None
    assert what_is_missing(last, {7: 30}.__getitem__) is None
    assert what_is_missing(last, {7: 29}.__getitem__) == "game 7 had 30 events on disk, and the log has 29"


@pytest.mark.parametrize("numbers", [(1, 1, 2**63 - 1), (2**64, 1, 1), (1, -1, 1), (-1, 1, 5), (1, 1, LAST_GAME_ID)])
async def test_impossible_last_commit_is_reported_and_new_games_can_be_made(
    numbers: tuple[int, int, int], tmp_path: Path
) -> None:
    (tmp_path / FILE_NAME).write_text(" ".join(map(str, numbers)) + "\n")
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon) as client:
            assert (await client.new_game())["game_id"] == 1
    (line,) = [line for line in logged if line["event"] == "the record of the last commit is damaged and ignored"]
    assert (line["log_level"], line["file"]) == ("error", os.fspath(tmp_path / FILE_NAME))
