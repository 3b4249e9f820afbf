"""The arbiter where the log fails: nothing is shown that is not in it, and nothing else stops."""

from __future__ import annotations

from typing import Any

import pytest
import structlog
import trio
from trio.testing import MockClock

from gmd.games.events import AnyEvent
from gmd.log.interface import LogFailed
from gmd.log.memory import MemoryLog
from tests.helpers import Json, memory_daemon


class FullLog(MemoryLog):
    """A log whose disk can be full: then it takes nothing more."""

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


async def test_a_move_that_is_not_logged_has_not_been_made() -> None:
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
        assert [(entry["event"], entry["game_id"]) for entry in logged] == [("append failed", 1)] * 2
        assert await client.ask("state", game_id=1) == before
        log.full = False
        assert (await client.ask("move", game_id=1, player=2, move="c5"))["state"]["last_move"] == "c7c5"


async def test_a_game_that_is_not_logged_has_not_been_made() -> None:
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


async def test_a_log_that_fails_as_a_flag_falls_stops_nobody_elses_clock(autojump_clock: MockClock) -> None:
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
        assert [(entry["event"], entry["game_id"]) for entry in logged] == [("append failed", 1)]
        # The clock of the game that fell out of memory runs anew from what the log knows of it, though nobody asks.
        assert (await client.ask("state", game_id=1))["state"]["clock"]["white"] == 5
        log.full = False
        await trio.sleep(6)
        assert [row["termination"] for row in (await client.ask("games"))["games"]] == ["timeout_white"] * 2


class DamagedLog(MemoryLog):
    """A log where one game cannot be read.

    :ivar loads: when it was tried.
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


async def test_a_game_that_is_due_and_cannot_be_read_holds_up_no_other(autojump_clock: MockClock) -> None:
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
