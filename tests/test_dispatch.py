"""Every reply ends in one way: it is counted, logged, and released when what it shows is durable."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog
import trio
from trio.testing import wait_all_tasks_blocked

from gm_protocol.messages import MakeMove
from gmd.event_log.interface import LogFailed
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient, Refused, Sender
from tests.helpers import Json, MemoryDaemon, memory_daemon
from tests.slow_log import SlowLog

#: Sends a daemon a request by one entry, and returns the reply.
Ask = Callable[..., Awaitable[Json]]
MOVE: dict[str, Any] = {"game_id": 1, "player": 1, "move": "e4", "id": "m"}


@asynccontextmanager
async def over_tcp(daemon: MemoryDaemon) -> AsyncIterator[Ask]:
    client = await daemon.connect()
    yield client.ask


@asynccontextmanager
async def inside(daemon: MemoryDaemon) -> AsyncIterator[Ask]:
    """Ask as the program in which the daemon runs."""
    in_process = InProcessClient(daemon.services)

    async def ask(kind: str, **fields: Any) -> Json:
        try:
            return await in_process.ask(Authority.CLIENT, kind, fields)
        except Refused as refused:
            return refused.reply

    yield ask


@asynccontextmanager
async def over_http(daemon: MemoryDaemon) -> AsyncIterator[Ask]:
    """Ask as HTTP routes do, whose requests have a sender."""
    in_process = InProcessClient(daemon.services)

    async def ask(kind: str, **fields: Any) -> Json:
        try:
            sender = Sender(None, "127.0.0.1:9", trio.current_time())
            return await in_process.ask(Authority.CLIENT, kind, fields, sender)
        except Refused as refused:
            return refused.reply

    yield ask


WAYS = pytest.mark.parametrize("way", [over_tcp, inside, over_http], ids=lambda way: way.__name__)


@WAYS
@pytest.mark.parametrize("error", [None, LogFailed("the disk is gone")], ids=["durable", "failed"])
async def test_reply_is_held_and_counted_once_when_its_commit_is_settled(way: Any, error: LogFailed | None) -> None:
    log = SlowLog()
    with structlog.testing.capture_logs() as logged:
        async with memory_daemon(log) as daemon, way(daemon) as ask:
            metrics = daemon.services.metrics
            await ask("new_game", player_white=1, player_black=2)
            log.slow, replies = True, []

            async def move() -> None:
                replies.append(await ask("move", **MOVE))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(move)
                await wait_all_tasks_blocked()
                assert replies == []
                assert metrics.answered[MakeMove] == metrics.refused["move", "internal"] == 0
                log.commits[0].settle(error)
            assert [reply["error"] for reply in replies] == [None if error is None else "the disk is gone"]
            assert replies[0]["id"] == "m"
            assert metrics.answered[MakeMove] == (error is None)
            assert metrics.refused["move", "internal"] == (error is not None)
    refusals = [entry for entry in logged if entry["event"] == "request refused"]
    assert [(entry["kind"], entry["code"]) for entry in refusals] == [("move", "internal")] * (error is not None)


@WAYS
async def test_refusal_waits_for_the_commit_of_the_move_it_reveals_and_is_counted_then(way: Any) -> None:
    log = SlowLog()
    async with memory_daemon(log) as daemon, way(daemon) as ask:
        refused = daemon.services.metrics.refused
        await ask("new_game", player_white=1, player_black=2)
        log.slow, replies = True, []
        first = await daemon.connect()
        await first.send({"kind": "move", **MOVE})
        await wait_all_tasks_blocked()

        async def move_again() -> None:
            replies.append(await ask("move", **MOVE | {"move": "d4"}))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(move_again)
            await wait_all_tasks_blocked()
            assert (replies, dict(refused)) == ([], {})
            log.commits[0].settle(None)
        assert [reply["code"] for reply in replies] == ["not_your_turn"]
        assert dict(refused) == {("move", "not_your_turn"): 1}


@WAYS
async def test_invalid_request_is_counted_and_logged_as_a_refusal(way: Any) -> None:
    with structlog.testing.capture_logs() as logged:
        async with memory_daemon() as daemon, way(daemon) as ask:
            assert (await ask("move", game_id="one"))["code"] == "bad_request"
            assert dict(daemon.services.metrics.refused) == {("move", "bad_request"): 1}
    refusals = [entry for entry in logged if entry["event"] == "request refused"]
    assert [(entry["kind"], entry["code"], entry["game_id"]) for entry in refusals] == [("move", "bad_request", None)]
