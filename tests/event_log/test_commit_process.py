"""Batches are committed by a separate process, or by the writer's thread whenever that process cannot."""

from __future__ import annotations

import ctypes
import fcntl
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from signal import SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGSTOP, SIGTERM
from threading import Timer

import pytest
import structlog
import trio
from trio.testing import wait_all_tasks_blocked

from gmd.event_log.batching import BatchingLog
from gmd.event_log.commit_process import PIPE_SIZE, CommitProcess, start_process
from gmd.event_log.directory import LOCK_NAME
from gmd.event_log.interface import LogFailed, SequenceConflict, TokenUse
from gmd.event_log.sqlite import committer_of
from gmd.event_log.store import GameAppend, ResultDelivered
from gmd.games.events import Loaded, Moved
from tests.event_log.test_contract import CREATED, SUMMARY
from tests.helpers import FaultyStore, store_in, troubles
from tests.serving import children_of, served

FAULT = OSError("the thread writes")
#: Option of Linux's prctl that makes a process adopt the orphans of its children.
PR_SET_CHILD_SUBREAPER = 36


@contextmanager
def adopting(pid: int) -> Iterator[None]:
    """Adopt the process of that id when its parent dies, and reap it.

    If init were its parent, its process group would be orphaned, and Linux wakes stopped members of an orphaned group.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
        os.waitpid(pid, 0)
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@asynccontextmanager
async def log_in(directory: Path) -> AsyncIterator[tuple[BatchingLog, FaultyStore, CommitProcess]]:
    """Yield a log with a commit process that is ready, the store of its thread, and the process."""
    with store_in(directory) as store, committer_of(directory / "games.sqlite") as committer:
        assert committer is not None
        log = BatchingLog(store, committer=committer)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(log.run)
            await committer.process.ready.wait()
            try:
                yield log, store, committer.process
            finally:
                log.stop()
        log.close()


def is_there(pid: int) -> bool:
    """Return whether a process exists, even if only as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def begin(log: BatchingLog, token: bytes | None = None) -> int:
    """Create a game durably and return its id."""
    game_id = log.next_game_id()
    await log.append(game_id, 0, [CREATED], lambda: SUMMARY, token and TokenUse(1, token, b"content")).wait()
    return game_id


async def test_commit_process_commits_and_the_thread_writes_nothing(tmp_path: Path) -> None:
    async with log_in(tmp_path) as (log, store, _):
        store.fault = FAULT
        game_id = await begin(log, b"token")
        await log.append(game_id, 1, [Moved("e2e4"), Moved("e7e5")], lambda: SUMMARY).wait()
        assert await log.load(game_id) == [CREATED, Moved("e2e4"), Moved("e7e5")]
        assert await log.made_under(1, b"token") == (game_id, b"content")
        assert store.batches == []


async def test_conflict_in_a_batch_of_the_process_fails_only_its_game(tmp_path: Path) -> None:
    async with log_in(tmp_path) as (log, store, _):
        good, bad = await begin(log), await begin(log)
        conflicting = log.append(bad, 5, [Moved("e2e4")], lambda: SUMMARY)
        fine = log.append(good, 1, [Moved("e2e4")], lambda: SUMMARY)
        await fine.wait()
        with pytest.raises(SequenceConflict):
            await conflicting.wait()
        assert await log.load(good) == [CREATED, Moved("e2e4")]
        assert await log.load(bad) == [CREATED]
        store.fault = FAULT
        await log.append(bad, 1, [Moved("e2e4")], lambda: SUMMARY).wait()  # the process goes on


async def test_batch_too_large_for_the_pipe_is_written_by_the_thread(tmp_path: Path) -> None:
    loaded = Loaded(["e2e4"] * (PIPE_SIZE // 6))
    async with log_in(tmp_path) as (log, store, _):
        game_id = await begin(log)
        await log.append(game_id, 1, [loaded], lambda: SUMMARY).wait()
        assert store.batches == [[game_id]]
        assert await log.load(game_id) == [CREATED, loaded]


async def test_signals_for_the_daemon_do_not_end_the_commit_process(tmp_path: Path) -> None:
    async with log_in(tmp_path) as (log, store, process):
        store.fault = FAULT
        for number in (SIGINT, SIGTERM, SIGHUP):
            os.kill(process.pid, number)
            await begin(log)


async def test_thread_commits_after_the_process_is_killed(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logged:
        async with log_in(tmp_path) as (log, store, process):
            game_id = await begin(log)
            os.kill(process.pid, SIGKILL)
            for seq, move in enumerate(("e2e4", "e7e5", "g1f3"), 1):
                await log.append(game_id, seq, [Moved(move)], lambda: SUMMARY).wait()
            assert await log.load(game_id) == [CREATED, Moved("e2e4"), Moved("e7e5"), Moved("g1f3")]
            assert store.batches[-1] == [game_id]
            await process.over.wait()
    assert [entry["event"] for entry in troubles(logged)] == [
        "the process that commits has ended: a thread does it from now on"
    ]


async def test_batch_of_a_killed_process_is_written_exactly_once(tmp_path: Path) -> None:
    with structlog.testing.capture_logs():
        async with log_in(tmp_path) as (log, store, process):
            game_id = await begin(log)
            with store.held():
                with closing(sqlite3.connect(tmp_path / "games.sqlite", isolation_level=None)) as other:
                    other.execute("BEGIN IMMEDIATE")
                    commit = log.append(game_id, 1, [Moved("e2e4")], lambda: SUMMARY)
                    await wait_all_tasks_blocked()  # the batch has been handed to the process
                    os.kill(process.pid, SIGKILL)
                    await process.over.wait()
                    other.execute("ROLLBACK")
                assert not commit.done
            await commit.wait()
            assert await log.load(game_id) == [CREATED, Moved("e2e4")]
            assert store.batches == [[game_id]]


async def test_thread_waits_for_a_database_held_by_another_process(tmp_path: Path) -> None:
    async with log_in(tmp_path) as (log, store, _):
        game_id = await begin(log)
        with closing(sqlite3.connect(tmp_path / "games.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            commit = log.append(game_id, 1, [Moved("e2e4")], lambda: SUMMARY)
            while not store.batches:
                await wait_all_tasks_blocked()
            other.execute("ROLLBACK")
        await commit.wait()
        assert await log.load(game_id) == [CREATED, Moved("e2e4")]


async def test_commit_process_has_ended_when_the_log_is_closed(tmp_path: Path) -> None:
    async with log_in(tmp_path) as (log, _, process):
        await begin(log)
    assert not is_there(process.pid)


@pytest.mark.slow
def test_commit_process_ends_when_its_daemon_is_killed(tmp_path: Path) -> None:
    with served("--data", str(tmp_path)) as daemon:
        (pid,) = children_of(daemon.process.pid)
        waiting = os.pidfd_open(pid)
        try:
            daemon.process.kill()
            trio.run(trio.lowlevel.wait_readable, waiting)  # readable once the process has ended
        finally:
            os.close(waiting)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux, whose processes may adopt others")
def test_next_daemon_waits_for_the_last_batch_of_a_killed_one(tmp_path: Path) -> None:
    """The commit process is stopped in the middle of its work, as by a slow disk."""
    with served("--data", str(tmp_path)) as daemon:
        (pid,) = children_of(daemon.process.pid)
        with adopting(pid):
            os.kill(pid, SIGSTOP)
            daemon.process.kill()
            daemon.process.wait()
            with (tmp_path / LOCK_NAME).open() as lock, pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            goes_on = Timer(0.2, os.kill, [pid, SIGCONT])
            goes_on.start()
            with served("--data", str(tmp_path)) as next_daemon:
                assert next_daemon.stop(SIGTERM) == 0
            goes_on.join()


async def test_thread_commits_if_no_process_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert start_process(tmp_path / "games.sqlite", []) is None
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))
    with structlog.testing.capture_logs() as logged:
        assert start_process(tmp_path / "games.sqlite", []) is None
    assert logged == [
        {
            "event": "there is no process that commits: a thread does it",
            "log_level": "warning",
            "reason": "No such file or directory",
        }
    ]


async def test_bug_in_an_append_ends_the_log_without_a_hang(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        log = BatchingLog(store)
        log.append(1, 0, [CREATED], lambda: 1 / 0)  # type: ignore[arg-type, return-value]
        with pytest.raises(BaseExceptionGroup) as caught:
            await log.run()
        assert caught.group_contains(ZeroDivisionError)
        log.close()


class FailingCommitter:
    """A committer with a bug, which shows after it has taken a batch."""

    def __init__(self) -> None:
        self._has_batch = trio.Event()

    def put(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> bool:
        self._has_batch.set()
        return True

    async def run(self, answered: Callable[[bool], None]) -> None:
        await self._has_batch.wait()
        raise ZeroDivisionError


async def test_bug_in_a_committer_ends_the_log_without_a_hang(tmp_path: Path) -> None:
    with store_in(tmp_path) as store, trio.fail_after(30):
        log = BatchingLog(store, committer=FailingCommitter())
        commit = log.append(1, 0, [CREATED], lambda: SUMMARY)
        with pytest.raises(BaseExceptionGroup) as caught:
            await log.run()
        assert caught.group_contains(ZeroDivisionError)
        with pytest.raises(LogFailed, match="game 1: the server failed, and it is not known whether"):
            await commit.wait()
        log.close()
