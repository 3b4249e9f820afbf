"""``--keep-finished``: what a client sees of games that are pruned, and of those that are not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import structlog
import trio
from trio.testing import MockClock

from gmd.config import ConfigError, load_config
from gmd.daemon import PERIOD_SECONDS, SECONDS_A_DAY, prune_finished
from gmd.event_log.interface import RESULT_SECONDS, Pruned
from gmd.event_log.memory import MemoryLog
from gmd.event_log.utc import read_time, write_time
from tests.helpers import Client, MemoryDaemon, connected, memory_daemon, running_daemon

DAY = SECONDS_A_DAY


async def resign(client: Client, game_id: int) -> None:
    reply = await client.ask("end_game", game_id=game_id, player=1, termination="resignation_white")
    assert reply["error"] is None


async def code_of(client: Client, game_id: int, kind: str = "state") -> str | None:
    code: str | None = (await client.ask(kind, game_id=game_id)).get("code")
    return code


async def listed(client: Client) -> list[int]:
    return [row["game_id"] for row in (await client.ask("games"))["games"]]


async def test_finished_game_is_pruned_after_its_time_and_a_live_one_never(autojump_clock: MockClock) -> None:
    async with memory_daemon(idle_timeout=1e7) as daemon, trio.open_nursery() as nursery:
        nursery.start_soon(prune_finished, daemon.arbiter, 2.0)
        client = await daemon.connect()
        for _ in range(3):
            await client.new_game()
        await trio.sleep(3 * DAY)
        await resign(client, 1)
        await trio.sleep(DAY)
        await resign(client, 3)
        await trio.sleep(DAY - 2 * PERIOD_SECONDS)
        assert await listed(client) == [3, 2, 1]
        await trio.sleep(4 * PERIOD_SECONDS)
        assert await listed(client) == [3, 2]
        for kind in ("state", "history"):
            assert await code_of(client, 1, kind) == "no_such_game"
        assert [await code_of(client, game_id) for game_id in (2, 3)] == [None, None]
        await trio.sleep(3 * DAY)
        assert await listed(client) == [2]
        assert (await client.play(2, "e4"))["ply_index"] == 1
        nursery.cancel_scope.cancel()


async def test_old_games_are_pruned_at_the_start(autojump_clock: MockClock) -> None:
    log = MemoryLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        for _ in range(2):
            await client.new_game()
        await resign(client, 1)
        await log.prune(10 * DAY)  # records that it is over
    await trio.sleep(3 * DAY)
    async with memory_daemon(log) as daemon, trio.open_nursery() as nursery:
        nursery.start_soon(prune_finished, daemon.arbiter, 2.0)
        client = await daemon.connect()
        await trio.testing.wait_all_tasks_blocked()
        assert await listed(client) == [2]
        nursery.cancel_scope.cancel()


async def prune_now(daemon: MemoryDaemon) -> None:
    for game in await daemon.arbiter.log.prune(0):
        daemon.arbiter.forget(game)


async def test_wait_for_any_game_does_not_return_a_pruned_game(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client, black = await daemon.connect(), await daemon.connect(player=2)
        for _ in range(3):
            await client.new_game()
        assert (await black.ask("wait", any=True, timeout=0))["state"] is None  # from now on the due games are known
        for game_id in (1, 2):
            await resign(client, game_id)
        await prune_now(daemon)
        assert (await black.ask("wait", any=True, timeout=5))["state"] is None
        await black.send({"kind": "wait", "any": True})
        await client.play(3, "e4")
        assert (await black.receive())["game_id"] == 3


class LateLog(MemoryLog):
    """A log that prunes just before it loads a game or finds it by its token."""

    def __init__(self) -> None:
        super().__init__()
        self.pruned: list[Pruned] = []

    async def load(self, game_id: int):  # type: ignore[no-untyped-def]
        self.pruned += await self.prune(0)
        return await super().load(game_id)


async def test_wait_does_not_wait_for_a_game_pruned_while_it_is_loaded(autojump_clock: MockClock) -> None:
    log = LateLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        await client.new_game()
        await resign(client, 1)
    async with memory_daemon(log) as daemon:
        black = await daemon.connect(player=2)
        assert await black.ask("wait", any=True, timeout=5) == {"state": None, "error": None}
    assert log.pruned == [Pruned(1, (1, 2))]


async def test_token_makes_a_new_game_when_its_game_is_pruned_during_the_lookup() -> None:
    log = LateLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        await client.new_game(token="t")
        await resign(client, 1)
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        assert (await client.new_game(token="t"))["game_id"] == 2
        assert (await client.new_game(token="t"))["game_id"] == 2
    assert log.pruned == [Pruned(1, (1, 2))]


async def test_token_of_a_pruned_game_makes_a_new_game_with_another_id() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game(token="t")
        await resign(client, 1)
        assert (await client.new_game(token="t"))["game_id"] == 1
        await prune_now(daemon)
        assert (await client.new_game(token="t", clock={"initial": 5}))["game_id"] == 2


def test_keep_finished_is_at_least_the_time_to_deliver_results() -> None:
    assert load_config({}, {}).keep_finished is None
    with pytest.raises(ConfigError, match=r"^keep_finished: 0.99 from the command line cannot be used: "):
        load_config({"keep_finished": 0.99}, {})
    assert load_config({"keep_finished": 1.0}, {}).keep_finished * SECONDS_A_DAY >= RESULT_SECONDS


def set_back(directory: Path, days: float, *columns: str) -> None:
    """Set the times of all games in a log back."""
    connection = sqlite3.connect(directory / "games.sqlite")
    for column in columns:
        connection.execute(f"UPDATE games SET {column} = {column} - ?", [days * DAY])
    connection.commit()
    connection.close()


@pytest.mark.slow
async def test_daemon_on_disk_prunes_old_games_and_ids_continue(tmp_path: Path) -> None:
    settings = {"data": str(tmp_path), "keep_finished": 30.0}
    async with running_daemon(**settings) as daemon, connected(daemon) as client:
        for _ in range(3):
            await client.new_game()
        await resign(client, 2)
        await resign(client, 3)
    set_back(tmp_path, 29.9, "ended")
    async with running_daemon(**settings) as daemon, connected(daemon) as client:
        assert await listed(client) == [3, 2, 1]
    set_back(tmp_path, 0.2, "ended")
    async with running_daemon(**settings) as daemon, connected(daemon) as client:
        with trio.fail_after(60):
            while await listed(client) != [1]:
                pass
        assert (await client.new_game())["game_id"] == 4


@pytest.mark.slow
async def test_clock_a_year_ahead_at_the_start_prunes_nothing_and_is_reported(tmp_path: Path) -> None:
    """Set the log back by a year, which looks the same to the daemon."""
    settings = {"data": str(tmp_path), "keep_finished": 30.0}
    async with running_daemon(**settings) as daemon, connected(daemon) as client:
        await client.new_game()
        await resign(client, 1)
    set_back(tmp_path, 365, "ended", "changed")
    seen = tmp_path / "last-seen"
    seen.write_text(write_time(read_time(seen.read_text().strip()) - 365 * DAY))
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(**settings) as daemon, connected(daemon) as client:
            assert await listed(client) == [1]
    (said,) = (line for line in logged if "the clock has jumped ahead" in line["event"])
    assert said["days_ahead"] == 365.0
    assert "start the daemon once with --trust-clock" in said["advice"]
    async with running_daemon(**settings, trust_clock=True) as daemon, connected(daemon) as client:
        with trio.fail_after(60):
            while await listed(client) != []:
                pass


async def test_failed_prune_is_retried(autojump_clock: MockClock) -> None:
    class FailingLog(MemoryLog):
        failures = 2

        async def prune(self, seconds: float) -> list[Pruned]:
            if self.failures:
                self.failures -= 1
                from gmd.event_log.interface import LogFailed

                raise LogFailed("finished games cannot be pruned")
            return await super().prune(seconds)

    with structlog.testing.capture_logs() as logged:
        async with memory_daemon(FailingLog(), idle_timeout=1e7) as daemon, trio.open_nursery() as nursery:
            nursery.start_soon(prune_finished, daemon.arbiter, 1.0)
            client = await daemon.connect()
            await client.new_game()
            await resign(client, 1)
            await trio.sleep(DAY + 4 * PERIOD_SECONDS)
            assert await listed(client) == []
            nursery.cancel_scope.cancel()
    said = [entry for entry in logged if entry["event"] != "session ended"]
    assert said == [{"event": "finished games pruned", "games": 1, "log_level": "info"}]
