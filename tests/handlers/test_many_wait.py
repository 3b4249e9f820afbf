"""Many sessions wait for one game: they wake in portions, players first, and each sees what it would see alone."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.games.views import Viewer
from gmd.play.watchers import PORTION
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon

#: Number of waiting sessions: many portions.
MANY = 10 * PORTION
#: Upper bound of the turns of the event loop from a waiter's notification to its reply, and of tasks with other work in
#: a turn: those that wake the waiters, the clocks, the sessions that act.
STAGES, OTHERS = 4, 8


class Turns(trio.abc.Instrument):
    """Counter of the task steps in each turn of the event loop.

    :ivar longest: the most steps in one turn.
    """

    def __init__(self) -> None:
        self.longest = 0
        self._steps = 0

    def before_io_wait(self, timeout: float) -> None:
        self.longest, self._steps = max(self.longest, self._steps), 0

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self._steps += 1


async def waiting(daemon: MemoryDaemon, count: int = MANY, **wait: Any) -> list[Client]:
    """Return sessions that all wait for the same."""
    clients = [await daemon.connect() for _ in range(count)]
    for client in clients:
        await client.send({"kind": "wait", **wait})
    await wait_all_tasks_blocked()
    return clients


@pytest.mark.slow
@pytest.mark.parametrize(
    "wait",
    [
        {"game_id": 1, "ply": 0},
        {"game_ids": [1, 2]},
        {"game_id": 1, "player": 2},
        {"any": True, "player": 2},
    ],
    ids=str,
)
async def test_change_wakes_few_waiters_in_each_turn_of_the_event_loop(wait: Json) -> None:
    async with memory_daemon() as daemon:
        white = await daemon.connect(player=1)
        for _ in range(2):
            await white.new_game()
        waiters = await waiting(daemon, **wait)
        # Those who wait for several games without a seat see only an end.
        act = {"termination": "resignation_white"} if "game_ids" in wait else {"move": "e4"}
        turns = Turns()
        trio.lowlevel.add_instrument(turns)
        assert (await white.ask("end_game" if "game_ids" in wait else "move", game_id=1, **act))["error"] is None
        await wait_all_tasks_blocked()
        trio.lowlevel.remove_instrument(turns)
        assert {(await waiter.receive())["error"] for waiter in waiters} == {None}
        assert turns.longest <= STAGES * 2 * PORTION + OTHERS  # each waiter also has a listening task
        assert turns.longest < MANY


@pytest.mark.slow
async def test_players_wake_before_spectators_and_a_small_crowd_along_with_a_large_one() -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        for _ in range(2):
            await white.new_game()
        crowd = await waiting(daemon, game_id=1, ply=0)
        (lonely,) = await waiting(daemon, 1, game_id=2, ply=0)
        await black.send({"kind": "wait", "game_id": 1})
        await wait_all_tasks_blocked()
        order: list[str] = []

        async def note(client: Client, name: str) -> None:
            assert (await client.receive())["state"]["ply_index"] == 1
            order.append(name)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(note, black, "player")
            nursery.start_soon(note, lonely, "lonely")
            for client in crowd:
                nursery.start_soon(note, client, "crowd")
            await wait_all_tasks_blocked()
            moves = [{"kind": "move", "game_id": game_id, "move": "e4"} for game_id in (1, 2)]
            await white.send(*moves)
        assert order[0] == "player"
        assert order.index("lonely") <= 4 * PORTION


@pytest.mark.slow
async def test_waiters_for_a_later_ply_do_not_delay_others(autojump_clock: MockClock) -> None:
    """Waiters that every move wakes in vain are woken after those that have not been woken yet."""
    async with memory_daemon() as daemon:
        white = await daemon.connect(player=1)
        await white.new_game()
        patient = await waiting(daemon, game_id=1, ply=100)
        eager = await waiting(daemon, PORTION, game_id=1, ply=1)
        await white.play(1, "e4", "e5")
        for client in eager:
            assert (await client.receive())["state"]["ply_index"] == 2
        await white.ask("end_game", game_id=1, termination="resignation_white")
        for client in patient:
            assert (await client.receive())["state"]["termination"] == "resignation_white"


@pytest.mark.parametrize(
    ("variant", "clock", "spectate"),
    [
        ("standard", None, "after"),
        ("crazyhouse", {"initial": 600, "increment": 1.5}, "live"),
        ("rbc", {"initial": 600, "increment": 1.5}, "after"),
        ("rbc", None, "live"),
    ],
)
async def test_each_of_a_crowd_gets_the_same_bytes_as_a_single_waiter(
    variant: str, clock: Json | None, spectate: str, autojump_clock: MockClock
) -> None:
    asked: list[Json] = [{}, {"brief": True}, {"actions": True}, {"id": "mine"}]
    async with memory_daemon(spectate=spectate, spectator_key=None) as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game(variant=variant, clock=clock)

        async def crowds(ply: int) -> list[list[Client]]:
            return [await waiting(daemon, 3, game_id=1, ply=ply, **fields) for fields in asked]

        async def check(crowds: list[list[Client]], ply: int) -> None:
            for fields, crowd in zip(asked, crowds, strict=True):
                (alone,) = await waiting(daemon, 1, game_id=1, ply=ply, **fields)
                assert {await waiter.receive_body() for waiter in crowd} == {await alone.receive_body()}

        for ply, (client, move) in enumerate([(white, "e2e4"), (black, "e7e5"), (white, "d2d4"), (black, "e5d4")]):
            waiters = await crowds(ply)
            if variant == "rbc":
                await client.ask("sense", game_id=1, square="e7")
            await trio.sleep(1.25)
            assert (await client.ask("move", game_id=1, move=move))["error"] is None
            await check(waiters, ply)
        waiters = await crowds(4)
        await white.ask("end_game", game_id=1, termination="resignation_white")
        await check(waiters, 4)


async def test_clocks_keep_running_between_spectators(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game(clock={"initial": 60})
        for client in (white, black):
            await client.ask("state", game_id=1)
        first = await waiting(daemon, 2, game_id=1, ply=0)
        await white.play(1, "e4")
        assert {(await client.receive())["state"]["clock"]["black"] for client in first} == {60.0}
        await trio.sleep(7.5)
        await waiting(daemon, 2, game_id=1, ply=1)
        later = await waiting(daemon, 2, game_id=1, ply=0)
        assert {(await client.receive())["state"]["clock"]["black"] for client in later} == {52.5}


async def test_sense_does_not_replace_the_cached_view_of_spectators() -> None:
    """A new view would be sent later, and the delay would reveal the sense."""
    async with memory_daemon() as daemon:
        white = await daemon.connect(player=1)
        await white.new_game(variant="rbc", clock=None)
        table = await daemon.arbiter.live_game(1)
        kept = table.shared_view(Viewer.NOBODY, brief=False)
        seen = table.shared_view(Viewer.OVERSEER, brief=False)
        await white.ask("sense", game_id=1, square="e7")
        assert table.shared_view(Viewer.NOBODY, brief=False) is kept
        assert table.shared_view(Viewer.OVERSEER, brief=False) is not seen
        await white.ask("move", game_id=1, move="e2e4")
        assert table.shared_view(Viewer.NOBODY, brief=False) is not kept
        for viewer in (Viewer.WHITE, Viewer.BLACK):
            with pytest.raises(AssertionError):
                table.shared_view(viewer, brief=False)
