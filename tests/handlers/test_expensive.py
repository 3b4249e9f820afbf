"""Expensive requests give way to others and use up a budget. Nothing is timed: the tests count slices of work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from gm_protocol.messages import NewGame
from gmd.daemon import Daemon
from gmd.games.events import AnyEvent, Created, Ended, Moved, Sensed
from gmd.games.variants import make_game, resolve
from gmd.play.budget import Budget
from tests.helpers import Client, connected, running_daemon

#: Plies of a long game, and number of histories requested at once.
PLIES = 400
MANY = 100
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


def long_game(plies: int = PLIES) -> list[AnyEvent]:
    """Return the events of a game of rbc in which both move knights out and back until White resigns."""
    asked = NewGame(player_white=1, player_black=2, variant="rbc", clock=None, reversible_moves=None)
    options = resolve(asked, {}, 0, strict=True)
    events: list[AnyEvent] = [Created(1, 2, options, "2026-11-22T00:00:00Z")]
    for ply in range(plies):
        events += [Sensed(27), Moved(SHUFFLE[ply % 4])]
    return [*events, Ended("resignation_white", 0.0, "white", "resignation_white")]


async def put_in(daemon: Daemon, events: list[AnyEvent]) -> int:
    """Open a game from its events; return its id once it is durable."""
    created = events[0]
    assert isinstance(created, Created)
    game = make_game(created)
    for event in events[1:]:
        game.apply(event)
    live = daemon.arbiter.open(game, events, None)
    if live.commit is not None:
        await live.commit.wait()
    return game.id


@asynccontextmanager
async def step_by_step(**settings: str) -> AsyncIterator[Daemon]:
    """Yield a daemon whose long work gives way at every step, as on a very slow machine."""
    async with running_daemon(**settings) as daemon:
        daemon.arbiter.cpu_queue.slice_seconds = 0.0
        yield daemon


async def ask_history(daemon: Daemon, game_id: int, answered: list[int]) -> None:
    async with connected(daemon) as client:
        reply = await client.ask("history", game_id=game_id)
        assert len(reply["moves"]) == PLIES
        answered.append(game_id)


@pytest.mark.slow
async def test_move_is_made_while_a_hundred_histories_are_computed() -> None:
    answered: list[int] = []
    async with step_by_step() as daemon, connected(daemon, player=7) as honest:
        game = (await honest.new_game(7, 8))["game_id"]
        games = [await put_in(daemon, long_game()) for _ in range(MANY)]
        cpu_queue = daemon.arbiter.cpu_queue
        async with trio.open_nursery() as nursery:
            for game_id in games:
                nursery.start_soon(ask_history, daemon, game_id, answered)
            while cpu_queue.slices < 10:
                await trio.lowlevel.checkpoint()
            before = cpu_queue.slices
            reply = await honest.ask("move", game_id=game, move="e4")
            slices = cpu_queue.slices - before
        assert reply["error"] is None
        assert len(answered) == MANY
        assert slices < 50, "a few turns of the loop go by until a move is answered, and a slice in each"


async def test_history_is_made_in_steps_and_a_cached_one_at_once() -> None:
    async with step_by_step() as daemon, connected(daemon) as client:
        game_id = await put_in(daemon, long_game())
        cpu_queue = daemon.arbiter.cpu_queue
        first = await client.ask("history", game_id=game_id)
        assert cpu_queue.slices >= PLIES // 8
        before = cpu_queue.slices
        assert await client.ask("history", game_id=game_id) == first
        assert cpu_queue.slices == before


@pytest.mark.slow
async def test_loading_a_long_game_gives_way_to_other_requests(tmp_path: Path) -> None:
    async with step_by_step(data=str(tmp_path)) as daemon, connected(daemon) as client:
        game_id = await put_in(daemon, long_game())
        shown = await client.ask("state", game_id=game_id)
    async with step_by_step(data=str(tmp_path)) as daemon, connected(daemon) as client:
        before = daemon.arbiter.cpu_queue.slices
        assert await client.ask("state", game_id=game_id) == shown
        assert daemon.arbiter.cpu_queue.slices - before > 2 * PLIES


async def used_up(client: Client, kind: str, **fields: object) -> None:
    """Assert that a request is refused as too many."""
    reply = await client.ask(kind, **fields)
    assert reply["code"] == "too_many"
    assert reply["error"].startswith("max_work_per_minute: 1 milliseconds of processor time from this ")
    assert reply["retry_after"] >= 1


async def test_address_without_budget_gets_no_history_and_no_pgn_but_plays_on(tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path)) as daemon:
        game_id, other = [await put_in(daemon, long_game()) for _ in range(2)]
    async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon, player=1) as client:
        mine = (await client.new_game())["game_id"]
        assert (await client.ask("state", game_id=game_id))["error"] is None  # it is loaded
        daemon.arbiter.cpu_queue.budget = Budget(1)
        assert (await client.ask("history", game_id=game_id))["error"] is None
        await used_up(client, "history", game_id=mine)
        await used_up(client, "game_from_pgn", player_white=1, player_black=2, pgn="1. e4")
        await used_up(client, "new_game", player_white=1, player_black=2, pgn="1. e4")
        assert (await client.ask("history", game_id=game_id))["error"] is None  # a cached history costs nothing
        assert (await client.ask("move", game_id=mine, move="e4"))["error"] is None
        assert (await client.ask("new_game", player_white=1, player_black=2))["error"] is None
        assert (await client.ask("state", game_id=other))["error"] is None  # a game is loaded even without budget
        assert (await daemon.ask("history", game_id=mine))["error"] is None  # the program itself has no address
