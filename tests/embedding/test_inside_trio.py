"""A daemon inside a trio program, as seen by that program."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
import trio.testing

import gmd
from gmd.event_log.opening import open_log
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient, Json
from gmd.tcp.operator import SOCKET_NAME
from tests.helpers import connected, durable_daemon, store_in

from .leftovers import nothing_left_behind, tasks


async def test_daemon_gives_the_same_replies_on_its_port_and_without_it() -> None:
    async with gmd.open_daemon() as daemon, connected(daemon) as client:
        made = await daemon.ask("new_game", player_white=1, player_black=2)
        assert made["game_id"] == 1
        over_the_socket = await client.ask("state", game_id=1)
        assert await daemon.ask("state", game_id=1) == over_the_socket


@pytest.mark.slow
async def test_daemon_leaves_nothing_behind(tmp_path: Path) -> None:
    async with gmd.open_daemon(gmd.Config(port=0, data=str(tmp_path / "before"))):
        pass  # modules that are first imported now stay loaded
    root = trio.lowlevel.current_root_task()
    assert root is not None
    running = tasks(root)
    with nothing_left_behind():
        async with gmd.open_daemon(gmd.Config(port=0, data=str(tmp_path / "games"))) as daemon:
            async with connected(daemon) as client:
                await client.new_game()
                await daemon.ask("move", player=1, game_id=1, move="e4")
            assert (tmp_path / "games" / SOCKET_NAME).is_socket()
            assert tasks(root) > running
        assert tasks(root) == running
    assert sorted(path.name for path in (tmp_path / "games").iterdir()) == ["games.sqlite", "last-commit", "lock"]
    with open_log(str(tmp_path / "games")):
        pass  # the lock is free


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), ExceptionGroup("two", [OSError()])])
async def test_exception_of_the_block_propagates_unchanged(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        async with gmd.open_daemon():
            raise error
    assert raised.value is error


async def test_cancellation_of_the_block_propagates() -> None:
    with nothing_left_behind(), trio.CancelScope() as scope:
        async with gmd.open_daemon():
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught


async def test_several_daemons_run_at_once() -> None:
    async with gmd.open_daemon() as one, gmd.open_daemon() as other:
        assert one.port != other.port
        await one.ask("new_game", player_white=1, player_black=2)
        with pytest.raises(gmd.Refused, match="there is no game 1"):
            await other.ask("state", game_id=1)


async def test_asking_lets_other_tasks_run() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with gmd.open_daemon() as daemon, trio.open_nursery() as nursery:
        nursery.start_soon(count)
        for _ in range(100):
            await daemon.ask("ping")
        nursery.cancel_scope.cancel()
    assert turns > 90


async def test_cancelled_request_has_no_effect() -> None:
    async with gmd.open_daemon() as daemon:
        with trio.CancelScope() as scope:
            scope.cancel()
            await daemon.ask("new_game", player_white=1, player_black=2)
        assert (await daemon.ask("games"))["games"] == []


async def test_wait_runs_concurrently_with_requests_and_ends_with_the_daemon() -> None:
    replies: list[Json] = []

    async def wait(player: int) -> None:
        replies.append(await daemon.ask("wait", player=player, game_id=1))

    async with trio.open_nursery() as nursery:
        async with gmd.open_daemon() as daemon:
            await daemon.ask("new_game", player_white=1, player_black=2)
            nursery.start_soon(wait, 2)
            await trio.testing.wait_all_tasks_blocked()
            await daemon.ask("move", player=1, game_id=1, move="e4")
            await trio.testing.wait_all_tasks_blocked()
            assert [reply["state"]["ply_index"] for reply in replies] == [1]
            nursery.start_soon(wait, 1)
            await trio.testing.wait_all_tasks_blocked()
        assert [reply["state"]["turn"] for reply in replies] == ["black", "black"]


async def test_hanging_request_is_cancelled_and_refused_at_the_stop(tmp_path: Path) -> None:
    refused: list[gmd.Refused] = []

    async def ask() -> None:
        with pytest.raises(gmd.Refused, match="stopped before this request was answered") as caught:
            await client.ask(Authority.CLIENT, "new_game", {"player_white": 1, "player_black": 2})
        refused.append(caught.value)

    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon, trio.open_nursery() as nursery:
            client = InProcessClient(daemon.services)
            with store.held():
                nursery.start_soon(ask)
                while not store.batches:
                    await trio.lowlevel.checkpoint()
                await client.stop(patience=0)
                await trio.testing.wait_all_tasks_blocked()
                assert [error.code for error in refused] == ["shutting_down"]
