"""Games in memory: their bytes decide how many stay, and idle ones are evicted first."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.event_log.interface import Pruned
from gmd.games.events import AnyEvent
from tests.helpers import Client, MemoryDaemon, durable_daemon, memory_daemon, store_in
from tests.slow_log import SlowLog

MAX_MEMORY = 1 << 20
#: The other half is for connections.
GAMES_BYTES = MAX_MEMORY // 2
#: A game that takes some 15 kB: the shuffled knights make only four positions, but every move has its text.
LONG = "Nf3 Nf6 Ng1 Ng8 " * 300
GAMES = 50


class NotingLog(SlowLog):
    """A log that notes which games were loaded, and so had been evicted."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[int] = []

    async def load(self, game_id: int) -> list[AnyEvent]:
        self.loads.append(game_id)
        return await super().load(game_id)


async def long_games(client: Client, count: int) -> None:
    for _ in range(count):
        assert (await client.new_game(pgn=LONG))["state"]["ply_index"] == 1_200
        await wait_all_tasks_blocked()


@pytest.mark.slow
async def test_long_games_stay_within_the_memory_limit_and_none_is_lost(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store, max_memory=MAX_MEMORY) as daemon:
            client = await daemon.connect()
            await client.new_game(3, 4)
            for number in range(GAMES):
                await long_games(client, 1)
                size = (await daemon.arbiter.live_game(2 + number)).game.estimated_bytes
                check_bytes(daemon, size)
                if number % 5 == 0:
                    assert await is_shown(client, 1)
            assert GAMES * size > 1.4 * GAMES_BYTES
            assert 1 not in store.loads, "a game that is asked for again and again stays"
            for game_id in range(2, GAMES + 2):
                assert await is_shown(client, game_id)
                check_bytes(daemon, size)


def check_bytes(daemon: MemoryDaemon, size: int) -> None:
    """Check that the games in memory take no more than they may, where all but one are of this size."""
    games = daemon.arbiter.games_in_memory * size
    assert daemon.arbiter.games_bytes <= GAMES_BYTES
    assert games <= GAMES_BYTES + 2 * 20_000
    assert daemon.arbiter.games_bytes == pytest.approx(games, abs=size)


async def is_shown(client: Client, game_id: int) -> bool:
    return (await client.ask("state", game_id=game_id, brief=True))["error"] is None


async def test_growing_game_is_counted_as_it_grows(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game()
        small = daemon.arbiter.games_bytes
        await client.play(1, *(("Nf3", "Nf6", "Ng1", "Ng8") * 64))
        assert daemon.arbiter.games_bytes >= small + 10 * (256 - 32)
        size = (await daemon.arbiter.live_game(1)).game.estimated_bytes
        assert daemon.arbiter.games_bytes == pytest.approx(size, abs=32 * 200)
        await trio.sleep(400)  # it is older now
        assert daemon.arbiter.games_in_memory == 1
        await client.play(1, *(("Nf3", "Nf6", "Ng1", "Ng8") * 8))
        await trio.sleep(1_000)
        assert (daemon.arbiter.games_in_memory, daemon.arbiter.games_bytes) == (0, 0)


@pytest.mark.slow
async def test_waited_for_game_is_evicted_without_room_and_the_wait_is_still_answered() -> None:
    log = NotingLog()
    async with memory_daemon(log, max_memory=MAX_MEMORY) as daemon:
        client, waiter = await daemon.connect(), await daemon.connect(player=2)
        await client.new_game()
        await waiter.send({"kind": "wait", "game_id": 1})
        await wait_all_tasks_blocked()
        await long_games(client, GAMES)
        await client.play(1, "e4")
        assert log.loads == [1]
        reply = await waiter.receive()
        assert (reply["error"], reply["state"]["ply_index"]) == (None, 1)


@pytest.mark.slow
async def test_game_with_events_not_yet_durable_is_never_evicted() -> None:
    log = NotingLog()
    async with memory_daemon(log, max_memory=MAX_MEMORY) as daemon:
        client, mover = await daemon.connect(), await daemon.connect()
        await client.new_game()
        log.slow = True
        await mover.send({"kind": "move", "game_id": 1, "player": 1, "move": "e4"})
        await wait_all_tasks_blocked()
        log.slow = False
        await long_games(client, GAMES)
        log.commits[0].settle(None)
        assert (await mover.receive())["error"] is None
        assert (await client.ask("state", game_id=1))["state"]["ply_index"] == 1
        assert log.loads == []


async def test_idle_session_keeps_no_game_in_memory() -> None:
    """Otherwise each of ten thousand sessions would keep the last game that it asked for, however long."""
    async with memory_daemon(max_memory=MAX_MEMORY) as daemon:
        client = await daemon.connect()
        await client.new_game(pgn=LONG)
        for kind in ("state", "history"):
            assert (await client.ask(kind, game_id=1))["error"] is None
        live = weakref.ref(await daemon.arbiter.live_game(1))
        daemon.arbiter.forget(Pruned(1, []))
        gc.collect()
        assert live() is None


@pytest.mark.slow
async def test_unacknowledged_end_keeps_no_game_in_memory_and_can_still_be_acknowledged(
    tmp_path: Path,
) -> None:
    """A client that has always begun another frame acknowledges nothing, however many results it receives."""
    with store_in(tmp_path) as store:
        async with durable_daemon(store, max_memory=MAX_MEMORY) as daemon:
            client, player = await daemon.connect(), await daemon.connect(player=2)
            await client.new_game()
            await client.ask("end_game", game_id=1, player=1, termination="resignation_white")
            assert (await player.ask("state", game_id=1))["state"]["termination"] == "resignation_white"
            game = weakref.ref(daemon.arbiter.cached(1))
            assert game() is not None
            await long_games(client, GAMES)
            gc.collect()
            assert game() is None
            assert await player.ask("ping") == {"error": None}  # shows that it has the previous reply
            await client.new_game()  # what players know is written with the next append
            assert await daemon.arbiter.log.due(2) == []
