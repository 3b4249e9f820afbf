"""A session goes on while replies are held; the replies leave in order, complete, and once."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

from gmd.tcp import conversation
from gmd.tcp.conversation import BATCH, MAX_HELD
from gmd.tcp.session import Session
from tests.helpers import Client, Json, connected, durable_daemon, memory_daemon, running_daemon, store_in
from tests.slow_log import SlowLog

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")


def move(ply: int, game_id: int = 1) -> Json:
    return {"kind": "move", "game_id": game_id, "player": 1 + ply % 2, "move": SHUFFLE[ply % 4], "brief": True}


async def plies(client: Client, count: int) -> list[int]:
    return [(await client.receive())["state"]["ply_index"] for _ in range(count)]


async def test_requests_after_held_replies_are_answered_up_to_a_limit(tmp_path: Path) -> None:
    many = BATCH * (MAX_HELD + 3)
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            await client.new_game()
            with store.held():
                await client.send(*map(move, range(many)))
                await wait_all_tasks_blocked()
                live = daemon.arbiter.cached(1)
                assert live is not None
                made = live.seq - 1
                assert MAX_HELD < made <= BATCH * (MAX_HELD + 1), "a batch has one to BATCH moves"
            assert await plies(client, many) == list(range(1, many + 1))


@pytest.mark.parametrize("data", ["", pytest.param(":memory:", marks=pytest.mark.slow)], ids=["held", "not held"])
async def test_client_that_does_not_read_gets_every_reply_when_it_does(data: str, tmp_path: Path) -> None:
    """Most of the replies do not fit into the kernel's buffers."""
    count = 1_500
    requests = [{"kind": "state", "game_id": 1, "id": number} for number in range(count)]
    async with running_daemon(data=data or str(tmp_path)) as daemon, connected(daemon) as client:
        await client.new_game()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.send, move(0), *requests)
            await wait_all_tasks_blocked(0.01)
            assert await plies(client, 1) == [1]
            assert [(await client.receive())["id"] for _ in range(count)] == list(range(count))


async def test_replies_leave_in_order_whatever_becomes_durable_first() -> None:
    log = SlowLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        for _ in range(3):
            await client.new_game()
        log.slow = True
        await client.send(move(0, 1), {"kind": "ping", "id": "a"})
        await wait_all_tasks_blocked()
        await client.send(move(0, 2), move(0, 3))
        await wait_all_tasks_blocked()
        await client.send({"kind": "ping", "id": "b"})
        await wait_all_tasks_blocked()
        first, second, third = log.commits
        replies: list[Json] = []

        async def read() -> None:
            while len(replies) < 5:
                replies.append(await client.receive())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            for commit, arrived in ((third, 0), (first, 2), (second, 5)):
                commit.settle(None)
                await wait_all_tasks_blocked()
                assert len(replies) == arrived
        assert [reply.get("id", reply.get("state") and reply["state"]["game_id"]) for reply in replies] == [
            1, "a", 2, 3, "b",
        ]  # fmt: skip


async def test_session_that_ends_while_replies_are_held_leaves_nothing_running() -> None:
    log = SlowLog()
    async with memory_daemon(log) as daemon:
        client, other = await daemon.connect(), await daemon.connect()
        await client.new_game()
        log.slow = True
        await client.send(move(0))
        await wait_all_tasks_blocked()
        await client.aclose()
        await wait_all_tasks_blocked()
        log.commits[0].settle(None)
        assert (await other.ask("state", game_id=1))["state"]["ply_index"] == 1
        await wait_all_tasks_blocked()
        assert daemon.session_server.sessions == 1


async def test_client_that_ended_its_input_still_gets_held_replies() -> None:
    log = SlowLog()
    async with memory_daemon(log) as daemon:
        for last in (b"", b"\0\0"):  # the end of the stream, and its end inside a frame
            client = await daemon.connect()
            game_id = (await client.new_game())["game_id"]
            log.slow = True
            await client.send(move(0, game_id))
            await client.send_bytes(last)
            await client.end()
            await wait_all_tasks_blocked()
            log.commits.pop().settle(None)
            log.slow = False
            assert (await client.receive())["state"]["ply_index"] == 1
            if last:
                assert (await client.receive())["code"] == "bad_frame"
            assert await client.closed()


async def test_idle_seconds_count_from_the_moment_a_held_reply_left(autojump_clock: MockClock) -> None:
    log = SlowLog()
    async with memory_daemon(log, idle_timeout=100) as daemon:
        client = await daemon.connect()
        await client.new_game()
        log.slow = True
        await client.send(move(0))
        await trio.sleep(950)
        log.commits[0].settle(None)
        assert (await client.receive())["error"] is None
        assert await client.closed()
        assert trio.current_time() == pytest.approx(1_050)


async def test_replies_before_a_wait_are_counted_once_though_the_peer_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "BATCH_SECONDS", math.inf)  # however slow the machine is, it is one batch
    async with memory_daemon() as daemon:
        ours, theirs = memory_stream_pair()
        ours.receive_stream.close()  # sending to it raises BrokenResourceError
        requests = [{"kind": "hello", "protocol": 2}, *[{"kind": "ping"}] * 3, {"kind": "wait", "game_id": 1}]
        await Client(ours).send(*requests)
        session = Session(theirs, daemon.services)
        with pytest.raises(trio.BrokenResourceError):
            await session.run()
        assert session.requests == 4
        assert sum(daemon.services.metrics.latency.counts) == 4
        assert daemon.services.memory.held == 0
