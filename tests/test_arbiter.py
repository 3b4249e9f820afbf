"""The arbiter with a failing log: it shows nothing that is not in the log, and everything else continues."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
import structlog
import trio
import trio.testing
from trio.testing import MockClock

from gmd.event_log.interface import LogFailed
from gmd.event_log.memory import MemoryLog
from gmd.games.events import AnyEvent
from gmd.play.deadlines import LAST_RETRY
from tests.helpers import FaultyStore, Json, durable_daemon, memory_daemon, store_in, troubles


class FullLog(MemoryLog):
    """A log whose disk can be full: then it accepts nothing more."""

    full = False

    def append(self, *arguments: Any, **keywords: Any) -> Any:
        if self.full:
            raise OSError("no space left on device")
        return super().append(*arguments, **keywords)


FAILED: Json = {
    "state": None,
    "code": "internal",
    "error": "game 1: the event log failed; nothing was done",
}


async def test_move_that_the_log_refuses_is_not_made() -> None:
    log = FullLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        await client.new_game()
        await client.play(1, "e4")
        before = await client.ask("state", game_id=1)
        log.full = True
        with structlog.testing.capture_logs() as logged:
            for move in ("e5", "c5"):
                assert await client.ask("move", game_id=1, player=2, move=move) == FAILED
        assert [(entry["event"], entry["game_id"]) for entry in troubles(logged)] == [("append failed", 1)] * 2
        assert await client.ask("state", game_id=1) == before
        log.full = False
        assert (await client.ask("move", game_id=1, player=2, move="c5"))["state"]["last_move"] == "c7c5"


async def test_game_that_the_log_refuses_is_not_made() -> None:
    log = FullLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        log.full = True
        with structlog.testing.capture_logs():
            reply = await client.ask("new_game", player_white=1, player_black=2, token="x")
        assert (reply["game_id"], reply["code"]) == (None, "internal")
        log.full = False
        assert (await client.ask("games"))["games"] == []
        assert (await client.ask("new_game", player_white=1, player_black=2, token="x"))["error"] is None


async def test_failing_log_at_a_flag_fall_does_not_stop_other_games_clocks(autojump_clock: MockClock) -> None:
    log = FullLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect(player=1)
        for seconds in (10, 20):
            await client.new_game(1, 1, clock={"initial": seconds})
        for game_id in (1, 2):
            await client.ask("state", game_id=game_id)
        log.full = True
        with structlog.testing.capture_logs() as logged:
            await trio.sleep(15)
        assert [(entry["event"], entry["game_id"]) for entry in troubles(logged)] == [("append failed", 1)]
        # The evicted game's clock starts again from what the log knows of it, though no client asks.
        assert (await client.ask("state", game_id=1))["state"]["clock"]["white"] == 5
        log.full = False
        await trio.sleep(6)
        assert [row["termination"] for row in (await client.ask("games"))["games"]] == ["timeout_white"] * 2


async def test_time_in_which_the_daemon_could_not_serve_is_given_back_to_games(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        for _ in range(2):
            await client.new_game(1, 1, clock={"initial": 10})
        await client.ask("state", game_id=1)  # its clock runs; the other game waits for first contact
        await trio.sleep(8)
        daemon.arbiter.give_back(5)
        assert (await client.ask("state", game_id=1))["state"]["clock"]["white"] == 7
        await trio.sleep(6.9)
        assert (await client.ask("state", game_id=1))["state"]["phase"] == "move"
        await trio.sleep(0.2)
        assert (await client.ask("state", game_id=1))["state"]["phase"] == "over"


async def test_clock_that_began_while_the_daemon_could_not_serve_gets_no_more_than_it_has_run(
    autojump_clock: MockClock,
) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1, clock={"initial": 10})
        await client.ask("state", game_id=1)
        await trio.sleep(2)
        daemon.arbiter.give_back(5)
        assert (await client.ask("state", game_id=1))["state"]["clock"]["white"] == 10
        await trio.sleep(9.9)
        assert (await client.ask("state", game_id=1))["state"]["phase"] == "move"
        await trio.sleep(0.2)
        assert (await client.ask("state", game_id=1))["state"]["phase"] == "over"


@pytest.mark.parametrize(
    "second",
    [
        {"kind": "move", "game_id": 1, "move": "e4"},
        {"kind": "end_game", "game_id": 1, "termination": "resignation_white"},
    ],
    ids=["a move", "the end"],
)
async def test_durable_game_stays_live_when_the_event_after_it_is_lost(second: Json, tmp_path: Path) -> None:
    class FailsThen(FaultyStore):
        def write(self, *arguments: Any) -> None:
            super().write(*arguments)
            self.fault = OSError("full")

    with store_in(tmp_path) as whole, structlog.testing.capture_logs():
        store = FailsThen(whole)
        async with durable_daemon(store) as daemon:
            client, other = await daemon.connect(player=1), await daemon.connect(player=1)
            with store.held():
                await client.send({"kind": "new_game", "player_white": 1, "player_black": 1})
                await trio.testing.wait_all_tasks_blocked()
                await other.send(second)
                await trio.testing.wait_all_tasks_blocked()
            assert (await client.receive())["error"] is None
            assert (await other.receive())["code"] == "internal"
            assert daemon.arbiter.live_games == await daemon.arbiter.log.live_games() == 1
            store.fault = None
            assert (await other.ask(**second))["error"] is None
            assert daemon.arbiter.live_games == await daemon.arbiter.log.live_games() == int(second["kind"] == "move")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
async def test_live_games_match_the_log_even_when_it_fails(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    with store_in(tmp_path) as store, structlog.testing.capture_logs():
        async with durable_daemon(store, idle_games=0.001) as daemon:
            client = await daemon.connect(player=1)
            for _ in range(60):
                store.fault = OSError("full") if random.random() < 0.3 else None
                game_id = random.randint(1, 8)
                requests: list[Json] = [
                    {"kind": "new_game", "player_white": 1, "player_black": 1, "brief": True},
                    {"kind": "new_game", "player_white": 1, "player_black": 1, "pgn": "1. f3 e5 2. g4 Qh4#"},
                    {"kind": "move", "game_id": game_id, "move": random.choice(("a3", "a6", "h3", "h6"))},
                    {"kind": "end_game", "game_id": game_id, "termination": "resignation_white"},
                ]
                some = random.choices(requests, k=random.randint(1, 5))
                await client.send(*some)
                for _ in some:
                    await client.receive()
                assert daemon.arbiter.live_games == await daemon.arbiter.log.live_games()


class DamagedLog(MemoryLog):
    """A log in which one game cannot be read.

    :ivar loads: the times of the attempts.
    """

    damaged: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[float] = []

    async def load(self, game_id: int) -> list[AnyEvent]:
        if game_id == self.damaged:
            self.loads.append(trio.current_time())
            raise LogFailed(f"game {game_id}: the event log cannot be read; nothing was done")
        return await super().load(game_id)


async def test_unreadable_game_with_a_deadline_delays_no_other_game(autojump_clock: MockClock) -> None:
    log = DamagedLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect(player=1)
        for seconds in (10, 10, 200):
            await client.new_game(1, 1, clock={"initial": seconds})
        for game_id in (1, 2, 3):
            await client.ask("state", game_id=game_id)
    log.damaged = 1
    async with memory_daemon(log, idle_games=50) as daemon:
        client = await daemon.connect()
        await trio.sleep(10.5)
        rows = (await client.ask("games"))["games"]
        assert [row["termination"] for row in rows] == ["available_move", "timeout_white", "available_move"]
        await trio.sleep(200)
        tried = [10, 11, 13, 17, 25, 41, 73, 133, 193]
        assert log.loads == pytest.approx(tried)
        log.damaged = None
        await trio.sleep(60)
        rows = (await client.ask("games"))["games"]
        assert {row["termination"] for row in rows} == {"timeout_white"}


async def test_game_out_of_time_backs_off_while_the_log_cannot_be_written(
    autojump_clock: MockClock,
) -> None:
    log = FullLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1, clock={"initial": 0.25})
        await client.ask("state", game_id=1)
        log.full = True
        with structlog.testing.capture_logs() as logged:
            await trio.sleep(200)
        # Once when its time is up, once when it is up again after the reload, then after one second, two, four and so
        # on.
        assert len(troubles(logged)) == 1 + 1 + 8
        log.full = False
        await trio.sleep(LAST_RETRY)
        assert [row["termination"] for row in (await client.ask("games"))["games"]] == ["timeout_white"]
        await client.new_game(1, 1, clock={"initial": 0.25})
        await client.ask("state", game_id=2)
        log.full = True
        with structlog.testing.capture_logs() as logged:
            await trio.sleep(3)
        assert len(troubles(logged)) == 3, "another game begins anew"


async def test_successful_write_resets_the_backoff(autojump_clock: MockClock) -> None:
    log = FullLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1, clock={"initial": 1, "increment": 100})
        await client.ask("state", game_id=1)
        log.full = True
        with structlog.testing.capture_logs():
            await trio.sleep(10)
        log.full = False
        assert (await client.ask("move", game_id=1, move="e4"))["error"] is None
        log.full = True
        with structlog.testing.capture_logs():
            assert (await client.ask("move", game_id=1, move="e5"))["code"] == "internal"
        log.full = False
        await trio.sleep(1.5)  # it was loaded again at once, and its clock runs
        assert [row["termination"] for row in (await client.ask("games"))["games"]] == ["timeout_black"]
