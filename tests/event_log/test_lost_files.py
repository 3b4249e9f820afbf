"""The daemon reports files of the log that were deleted or moved, while it has them open or after it was killed."""

from __future__ import annotations

import os
import signal
import urllib.error
import urllib.request
from pathlib import Path
from signal import SIGKILL

import pytest
import structlog
import trio

from gmd.event_log.last_commit import FILE_NAME, LastCommit, read_last_commit, what_is_missing
from gmd.event_log.store import LAST_GAME_ID
from tests.helpers import Client
from tests.serving import STOP_SECONDS, Served, children_of, served

DELETED = "the write-ahead log was deleted while it was open"
MISSING = "commits are missing: the write-ahead log was deleted, or the file is an older one"


async def client_of(daemon: Served) -> Client:
    client = Client(await trio.open_tcp_stream(daemon.host, daemon.port))
    await client.ask("hello")
    return client


async def play_moves(daemon: Served, *moves: str) -> Client:
    client = await client_of(daemon)
    await client.new_game()
    await client.play(1, *moves)
    return client


def kill(daemon: Served) -> None:
    """Kill the daemon and its commit process, which would tidy up the files."""
    for process in (*children_of(daemon.process.pid), daemon.process.pid):
        os.kill(process, SIGKILL)
    daemon.process.wait()


def line_of(daemon: Served, text: str) -> str:
    """Return the first line of the daemon's log that contains a text, once it appears."""
    assert daemon.process.stderr is not None
    return next(line for line in daemon.process.stderr if text in line)


def health_of(port: str) -> int:
    """Return the HTTP status of a daemon's health check."""
    try:
        status: int = urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").status
    except urllib.error.HTTPError as error:
        status = error.code
        error.close()
    return status


def said_until_stopped(daemon: Served) -> str:
    daemon.process.send_signal(signal.SIGTERM)
    return daemon.process.communicate(timeout=STOP_SECONDS)[1]


async def test_deleted_wal_is_reported_and_later_acknowledged_writes_survive_a_crash(
    tmp_path: Path,
) -> None:
    with served("--data", str(tmp_path)) as daemon:
        client = await play_moves(daemon, "e4")
        (tmp_path / "games.sqlite-wal").unlink()
        assert (await client.play(1, "e5", "Nf3", white_first=False))["ply_index"] == 3
        assert (await client.ask("register", name="ann"))["error"] is None
        assert "restart the daemon, which makes a new one; nothing is lost" in line_of(daemon, DELETED)
        kill(daemon)
        await client.aclose()
    with served("--data", str(tmp_path)) as daemon:
        client = await client_of(daemon)
        assert (await client.ask("state", game_id=1))["state"]["ply_index"] == 3
        assert (await client.ask("register", name="ann"))["code"] == "not_available"
        await client.aclose()
        assert MISSING not in said_until_stopped(daemon)


async def test_deleted_wal_is_noticed_while_no_game_is_played(tmp_path: Path) -> None:
    with served("--data", str(tmp_path)) as daemon:
        client = await play_moves(daemon, "e4")
        (tmp_path / "games.sqlite-wal").unlink()
        line_of(daemon, DELETED)
        kill(daemon)
        await client.aclose()
    with served("--data", str(tmp_path)) as daemon:
        client = await client_of(daemon)
        assert (await client.ask("state", game_id=1))["state"]["ply_index"] == 1
        await client.aclose()


async def test_moved_database_file_is_an_outage_until_it_is_back(tmp_path: Path) -> None:
    with served("--data", str(tmp_path), "--http", "--http-port", "0") as daemon:
        http = daemon.http.rpartition(":")[2]
        client = await play_moves(daemon, "e4")
        (tmp_path / "games.sqlite").rename(tmp_path / "elsewhere")
        reply = await client.ask("move", game_id=1, player=2, move="e5")
        assert reply["code"] == "internal"
        assert "was deleted, moved or replaced while it was open" in line_of(daemon, "cannot be written")
        assert await trio.to_thread.run_sync(health_of, http) == 503
        (tmp_path / "elsewhere").rename(tmp_path / "games.sqlite")
        assert (await client.ask("move", game_id=1, player=2, move="e5"))["error"] is None
        await client.aclose()


async def test_wal_deleted_after_a_crash_is_reported_at_the_next_start(tmp_path: Path) -> None:
    with served("--data", str(tmp_path)) as daemon:
        await (await play_moves(daemon, "e4")).aclose()
        kill(daemon)
    (tmp_path / "games.sqlite-wal").unlink()
    with served("--data", str(tmp_path)) as daemon:
        line = line_of(daemon, MISSING)
        assert "game 1 had 2 events on disk, and the log has no such game" in line
        assert "put back games.sqlite with the games.sqlite-wal that belongs to it" in line
        client = await client_of(daemon)
        assert (await client.new_game())["game_id"] == 2  # the id of the lost game was acknowledged
        await client.aclose()


async def test_older_database_file_is_reported_at_the_next_start(tmp_path: Path) -> None:
    with served("--data", str(tmp_path)) as daemon:
        await (await play_moves(daemon, "e4")).aclose()
        assert MISSING not in said_until_stopped(daemon)
    older = (tmp_path / "games.sqlite").read_bytes()
    with served("--data", str(tmp_path)) as daemon:
        client = await client_of(daemon)
        await client.play(1, "e5", white_first=False)
        await client.aclose()
        assert MISSING not in said_until_stopped(daemon)
    (tmp_path / "games.sqlite").write_bytes(older)
    with served("--data", str(tmp_path)) as daemon:
        assert "game 1 had 3 events on disk, and the log has 2" in line_of(daemon, MISSING)


async def test_killing_only_the_daemon_loses_no_commits(tmp_path: Path) -> None:
    """The commit process moves the write-ahead log into the file and deletes it."""
    with served("--data", str(tmp_path)) as daemon:
        await (await play_moves(daemon, "e4")).aclose()
        daemon.process.kill()
        daemon.process.wait()
    with served("--data", str(tmp_path)) as daemon:
        assert MISSING not in said_until_stopped(daemon)
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


@pytest.mark.parametrize(
    "numbers",
    [(1, 1, LAST_GAME_ID + 1), (1, 1, 2**63 - 1), (2**64, 1, 1), (1, -1, 1), (-1, 1, 5), (1, 1, LAST_GAME_ID)],
)
def test_impossible_numbers_of_a_last_commit_are_ignored_and_reported(
    numbers: tuple[int, int, int], tmp_path: Path
) -> None:
    (tmp_path / FILE_NAME).write_text(" ".join(map(str, numbers)) + "\n")
    with structlog.testing.capture_logs() as logged:
        assert read_last_commit(tmp_path) is None
    assert [(line["event"], line["log_level"], line["file"]) for line in logged] == [
        ("the record of the last commit is damaged and ignored", "error", str(tmp_path / FILE_NAME))
    ]


async def test_new_games_can_be_made_beside_a_damaged_last_commit(tmp_path: Path) -> None:
    with served("--data", str(tmp_path)) as daemon:
        await (await play_moves(daemon, "e4")).aclose()
    (tmp_path / FILE_NAME).write_text(f"{1:20} {1:20} {2**63 - 1:20}\n")
    with served("--data", str(tmp_path)) as daemon:
        client = await client_of(daemon)
        assert (await client.new_game())["game_id"] == 2
        await client.aclose()
