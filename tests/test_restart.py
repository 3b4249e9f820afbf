"""A stopped or killed daemon continues from its log, whatever state the games were in; and idle games are evicted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from gmd.event_log.interface import GameQuery
from gmd.event_log.memory import MemoryLog
from gmd.games.events import AnyEvent
from tests.helpers import Client, FaultyStore, Json, durable_daemon, memory_daemon, store_in


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    with store_in(tmp_path) as store:
        yield store


#: A game of player 1 against player 2, request by request; each is accepted.
REQUESTS: list[Json] = [
    {"kind": "new_game", "player_white": 1, "player_black": 2, "token": "t"},
    {"kind": "move", "player": 1, "move": "e4", "ply": 0},
    {"kind": "move", "player": 2, "move": "e5", "ply": 1, "offer_draw": True, "claim_draw": True},
    {"kind": "move", "player": 1, "move": "Ke2", "ply": 2},
    {"kind": "move", "player": 2, "move": "nonsense", "ply": 3, "claim_draw": True},
]


async def test_every_request_sent_again_to_a_new_daemon_has_the_same_answer(store: FaultyStore) -> None:
    for request in REQUESTS:
        request = {**request, "game_id": 1} if request["kind"] == "move" else {**request, "illegal_move": "lose"}
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            reply = await client.ask(**request)
            assert reply["error"] is None
            state = await client.ask("state", game_id=1)
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            assert await client.ask("state", game_id=1) == state
            assert await client.ask(**request) == reply
            assert await client.ask("state", game_id=1) == state
    assert state["state"]["termination"] == "forfeit_black"


async def test_game_ids_continue_after_a_restart(store: FaultyStore) -> None:
    for expected in (1, 2, 3):
        async with durable_daemon(store) as daemon:
            assert (await (await daemon.connect()).new_game())["game_id"] == expected


async def test_no_game_is_loaded_before_it_is_asked_for(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        client = await daemon.connect()
        for _ in range(3):
            await client.new_game()
            await client.new_game(clock={"initial": 1_000})
    async with durable_daemon(store) as daemon:
        client = await daemon.connect()
        assert len((await client.ask("games"))["games"]) == 6
        assert (await client.ask("wait", any=True, player=2, timeout=0))["state"] is None
        assert store.loads == []
        assert (await client.ask("wait", any=True, player=1))["game_id"] == 1
        assert store.loads == [1]


async def test_wait_for_any_game_after_a_restart_returns_what_the_player_missed(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        client = await daemon.connect()
        for _ in range(4):
            await client.new_game()
        await client.play(3, "e4")
        await client.ask("end_game", game_id=2, player=1, termination="resignation_white")
        await client.play(1, "e4")
        # Black receives this result, and the next append writes that to the log.
        await client.ask("end_game", game_id=4, player=1, termination="resignation_white")
        await client.ask("state", game_id=4, player=2)
        await client.new_game(5, 6)
    async with durable_daemon(store) as daemon:
        client = await daemon.connect(player=2)
        seen: list[int] = []
        while (reply := await client.ask("wait", any=True, timeout=0, **{"except": seen}))["state"] is not None:
            seen.append(reply["game_id"])
        assert seen == [3, 2, 1]


async def test_time_without_a_daemon_is_charged_to_no_player(autojump_clock: MockClock) -> None:
    log = MemoryLog()
    clock = {"initial": 10, "increment": 0}
    async with memory_daemon(log) as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1, clock=clock)
        await client.ask("move", game_id=1, move="e4")
        await trio.sleep(4)
        await client.ask("move", game_id=1, move="e5")
        await trio.sleep(3)
    await trio.sleep(1_000)
    async with memory_daemon(log) as daemon:
        client = await daemon.connect(player=1)
        await trio.sleep(2)
        # The time that White used before the daemon ended is forgiven; the time since the restart is charged.
        assert (await client.ask("state", game_id=1))["state"]["clock"] == {"white": 8, "black": 6}
    async with memory_daemon(log) as daemon:
        await trio.sleep(10.001)
        (row,) = await log_rows(log)
        assert row == "timeout_white", "nobody has asked for the game"


async def log_rows(log: MemoryLog) -> list[str]:
    return [row.termination for row in await log.rows(GameQuery())]


async def test_start_timeout_begins_again_after_a_restart(autojump_clock: MockClock) -> None:
    log = MemoryLog()
    async with memory_daemon(log, start_timeout=60) as daemon:
        await (await daemon.connect()).new_game(clock={"initial": 10})
        await trio.sleep(50)
    async with memory_daemon(log, start_timeout=60) as daemon:
        await trio.sleep(59)
        assert await log_rows(log) == ["available_move"]
        await trio.sleep(2)
        assert await log_rows(log) == ["timeout_white"]


async def test_idle_game_is_evicted_and_its_clock_runs_on(autojump_clock: MockClock) -> None:
    log = CountingLog()
    async with memory_daemon(log, idle_games=10) as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1, clock={"initial": 100})
        await client.new_game(1, 1)
        for game_id in (1, 2):
            await client.ask("state", game_id=game_id)
        await trio.sleep(30)
        assert log.loads == []
        assert (await clock_of(client), log.loads) == (70, [1])
        await trio.sleep(5)
        assert (await clock_of(client), log.loads) == (65, [1])
        await trio.sleep(64)
        assert await log_rows(log) == ["available_move"] * 2
        await trio.sleep(2)
        assert await log_rows(log) == ["available_move", "timeout_white"]
        assert log.loads == [1, 1]


class CountingLog(MemoryLog):
    """A log that records which games were loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[int] = []

    async def load(self, game_id: int) -> list[AnyEvent]:
        self.loads.append(game_id)
        return await super().load(game_id)


async def clock_of(client: Client) -> float:
    seconds: float = (await client.ask("state", game_id=1))["state"]["clock"]["white"]
    return seconds


async def test_waited_for_game_is_not_evicted(autojump_clock: MockClock) -> None:
    log = CountingLog()
    async with memory_daemon(log, idle_games=10) as daemon:
        client, waiter = await daemon.connect(), await daemon.connect(player=2)
        await client.new_game()
        await waiter.send({"kind": "wait", "game_id": 1})
        await trio.sleep(50)
        await client.play(1, "e4")
        assert (await waiter.receive())["state"]["last_move"] == "e2e4"
        assert log.loads == []
