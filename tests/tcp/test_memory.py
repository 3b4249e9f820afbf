"""The memory that connections make the daemon hold is limited for each connection, for each address, and in total."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock, wait_all_tasks_blocked

from gm_protocol.framing import encode_frame
from gmd.daemon import Daemon
from gmd.handlers.wait import GAME_BYTES
from gmd.play import turns
from gmd.tcp import conversation
from gmd.tcp.conversation import MAX_REPLY_BYTES
from tests.helpers import Client, Json, MemoryDaemon, connected, memory_daemon, running_daemon
from tests.slow_log import SlowLog

#: The smallest memory limit that can be set: connections may hold half of it.
MAX_MEMORY = 1 << 20
LIMIT = MAX_MEMORY // 2
FRAME = 100_000
#: This many frames exceed the limit.
FRAMES = 12

TOO_MANY: Json = {
    "code": "too_many",
    "retry_after": 5.0,
    "error": f"max_memory_per_address: this address makes the server hold more than {LIMIT} bytes; "
    "read the replies, complete the requests, and connect again later",
}


def short_frame(size: int = FRAME) -> bytes:
    """Return a frame that lacks its last ten bytes."""
    return encode_frame(b'{"kind":"ping"}'.ljust(size))[:-10]


async def end_short_frame(client: Client) -> Json:
    """Send the last ten bytes and return the reply; a connection that was cut off closes after it."""
    await client.send_bytes(b" " * 10)
    reply = await client.receive()
    if reply == TOO_MANY:
        assert await client.closed()
    return reply


def long_ping(size: int, number: int = 0) -> Json:
    """Return a request that gets a long reply."""
    return {"kind": "ping", "id": f"{number:04}{'x' * size}"}


@asynccontextmanager
async def crowd(daemon: Daemon, size: int) -> AsyncIterator[list[Client]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(connected(daemon)) for _ in range(size)]


async def until_held(daemon: Daemon, size: int) -> None:
    """Return once connections hold this many bytes, or one has been cut off."""
    while daemon.memory.held < size and not daemon.memory.cut_off:
        await wait_all_tasks_blocked()


async def nothing_held(daemon: Daemon | MemoryDaemon) -> None:
    """Return once connections hold nothing."""
    memory = daemon.memory if isinstance(daemon, Daemon) else daemon.services.memory
    while memory.held:
        await wait_all_tasks_blocked()


def lockstep(daemon: MemoryDaemon) -> Client:
    """Open a connection without buffers: the server sends only what the client reads at that moment."""
    ours, theirs = trio.testing.lockstep_stream_pair()
    daemon.serve(theirs)
    return Client(ours)


@pytest.fixture
def memory() -> Iterator[None]:
    """Count what is allocated."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


async def test_of_many_incomplete_frames_the_largest_are_cut_off_and_others_notice_nothing() -> None:
    async with running_daemon(max_memory=MAX_MEMORY) as daemon, connected(daemon) as honest:
        await honest.new_game()
        request = encode_frame(b'{"kind":"state","game_id":1,"brief":true}'.ljust(5_000))
        await honest.send_bytes(request[:4_500])  # an incomplete frame alone is no reason to cut a client off
        async with crowd(daemon, FRAMES) as clients:
            for number, client in enumerate(clients, 1):
                await client.send_bytes(short_frame())
                await until_held(daemon, 4_500 + number * (FRAME - 10))
                assert daemon.memory.held <= LIMIT
            await honest.send_bytes(request[4_500:])
            assert (await honest.receive())["error"] is None
            # Which of them hold most depends on how the network split their frames: a buffer grows in steps.
            replies = [await end_short_frame(client) for client in clients]
            assert 0 < replies.count(TOO_MANY) == daemon.memory.cut_off < FRAMES
            assert replies.count({"error": None}) == FRAMES - daemon.memory.cut_off
        assert daemon.memory.held == 0
        assert daemon.metrics.sessions[2, "too_many"] == daemon.memory.cut_off


async def test_announced_length_reserves_no_memory_before_its_bytes_arrive(memory: None) -> None:
    async with memory_daemon() as daemon:
        clients = [await daemon.connect() for _ in range(20)]
        before, _ = tracemalloc.get_traced_memory()
        for client in clients:
            await client.send_bytes(short_frame(1 << 20)[:100])
        await wait_all_tasks_blocked()
        after, _ = tracemalloc.get_traced_memory()
        assert (after - before) / len(clients) < 5_000


async def test_unread_replies_of_one_client_are_bounded_however_much_it_asks(
    memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "BATCH_SECONDS", math.inf)  # however slow the machine is, its bytes end the batch
    count, plies = 64, 5_000
    async with memory_daemon(max_plies=6_000) as daemon, trio.open_nursery() as nursery:
        client = lockstep(daemon)
        nursery.start_soon(client.send, {"kind": "hello"})
        assert (await client.receive())["error"] is None
        pgn = "Nf3 Nf6 Ng1 Ng8 " * (plies // 4)
        nursery.start_soon(client.send, {"kind": "new_game", "player_white": 1, "player_black": 2, "pgn": pgn})
        assert (await client.receive())["state"]["ply_index"] == plies
        before, _ = tracemalloc.get_traced_memory()
        nursery.start_soon(client.send, *({"kind": "state", "game_id": 1, "id": number} for number in range(count)))
        await wait_all_tasks_blocked()
        after, _ = tracemalloc.get_traced_memory()
        assert MAX_REPLY_BYTES < daemon.services.memory.held < 3 * MAX_REPLY_BYTES
        assert after - before < 6 * MAX_REPLY_BYTES, "one batch, and a copy of what is being sent"
        assert [(await client.receive())["id"] for _ in range(count)] == list(range(count))
        await nothing_held(daemon)


async def test_of_clients_that_leave_replies_unread_the_largest_are_cut_off() -> None:
    """Over sockets: the kernel takes some of what the server holds for each, but of so many clients enough remains."""
    async with running_daemon(max_memory=MAX_MEMORY) as daemon, connected(daemon) as honest:
        async with crowd(daemon, 24) as clients, trio.open_nursery() as nursery:
            for client in clients:
                nursery.start_soon(ask_for_ever, client, 90_000)
            while not daemon.memory.cut_off:
                assert daemon.memory.held <= LIMIT
                assert await honest.ask("ping") == {"error": None}
            nursery.cancel_scope.cancel()
        assert await honest.ask("ping") == {"error": None}
        await nothing_held(daemon)


async def ask_for_ever(client: Client, size: int) -> None:
    """Send requests and read nothing."""
    try:
        while True:
            await client.send(long_ping(size))
    except trio.BrokenResourceError:
        pass


async def test_replies_held_for_their_commits_count_against_the_limit() -> None:
    log = SlowLog()
    async with memory_daemon(log, max_memory=MAX_MEMORY) as daemon:
        client = await daemon.connect()
        await client.new_game()
        log.slow = True
        move = {"kind": "move", "game_id": 1, "player": 1, "move": "e4", "brief": True}
        await client.send({**move, "id": "x" * 100_000})
        await wait_all_tasks_blocked()
        assert 100_000 < daemon.services.memory.held < 110_000
        log.commits[0].settle(None)
        assert (await client.receive())["error"] is None
        assert daemon.services.memory.held == 0


async def test_client_with_too_many_held_replies_gets_a_refusal_and_its_move_stands() -> None:
    log = SlowLog()
    async with memory_daemon(log, max_memory=MAX_MEMORY) as daemon:
        client, *others = [await daemon.connect() for _ in range(5)]
        await client.new_game()
        log.slow = True
        move = {"kind": "move", "game_id": 1, "player": 1, "move": "e4", "brief": True}
        await client.send({**move, "id": "x" * 130_000})
        await wait_all_tasks_blocked()
        assert daemon.services.memory.held > 130_000
        for other in others:
            await other.send_bytes(short_frame(100_000))
        reply = await client.receive()
        assert reply["code"] == "too_many"
        assert reply["error"].startswith(f"max_memory: clients make the server hold more than {LIMIT} bytes, and")
        assert await client.closed()
        for other in others:
            await other.send_bytes(b" " * 10)
            assert await other.receive() == {"error": None}
        assert daemon.services.memory.held == 0
        log.commits[0].settle(None)
        log.slow = False
        assert (await other.ask("state", game_id=1))["state"]["ply_index"] == 1


async def test_wait_followed_by_too_many_bytes_is_cut_off() -> None:
    async with memory_daemon(max_memory=MAX_MEMORY) as daemon:
        client = await daemon.connect()
        await client.new_game()
        await client.send({"kind": "wait", "player": 2, "game_id": 1})
        await client.send_bytes(short_frame(LIMIT + 100))
        assert (await client.receive())["error"] is None  # the reply to the wait, as at its timeout
        assert (await client.receive())["code"] == "too_many"
        assert await client.closed()


async def test_large_request_counts_while_it_is_answered_and_others_may_get_it_cut_off() -> None:
    pgn = "{} " * 100_000 + "1. e4"
    async with memory_daemon(max_memory=MAX_MEMORY, max_pgn=1 << 20) as daemon, trio.open_nursery() as nursery:
        client, *others = [await daemon.connect() for _ in range(4)]
        await client.send({"kind": "new_game", "player_white": 1, "player_black": 2, "pgn": pgn})
        while daemon.services.memory.held < len(pgn):
            await trio.lowlevel.checkpoint()
        for other in others:
            nursery.start_soon(other.send_bytes, short_frame(100_000))
        assert (await client.receive())["code"] == "too_many"
        assert await client.closed()
        for other in others:
            await other.send_bytes(b" " * 10)
            assert await other.receive() == {"error": None}
        assert (await other.ask("state", game_id=1))["code"] == "no_such_game"
        assert daemon.services.memory.held == 0


async def reads(client: Client, size: int, seconds: float) -> int:
    """Read this many bytes, then pause, until the end; return how many were read."""
    received = 0
    try:
        while data := await client.stream.receive_some(size):
            received += len(data)
            await trio.sleep(seconds * len(data) / size)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    return received


@pytest.mark.parametrize(("rate", "is_taken"), [(7_500, False), (20_000, True)])
async def test_client_must_read_a_long_reply_at_a_minimum_rate(
    rate: int, is_taken: bool, autojump_clock: MockClock
) -> None:
    """150 kB every 20 seconds, that is 7,500 bytes a second, once let a client read one reply for any time."""
    size = 2_000_000
    async with memory_daemon(max_message=2 * size, min_read_rate=16_000) as daemon, trio.open_nursery() as nursery:
        client = lockstep(daemon)
        nursery.start_soon(client.send, {"kind": "hello", "protocol": 2}, long_ping(size), {"kind": "ping"})
        async with trio.open_nursery() as closing:

            async def end() -> None:
                await trio.sleep(size / 16_000 + 200)
                await client.aclose()

            closing.start_soon(end)
            received = await reads(client, rate, 1)
            if not is_taken:
                assert daemon.services.metrics.sessions[2, "stalled"] == 1
                assert daemon.services.memory.held == 0
        nursery.cancel_scope.cancel()
    assert (received > size) is is_taken
    if not is_taken:
        # n bytes have n / 16,000 seconds and 30 seconds more
        assert received == pytest.approx(rate * 30 / (1 - rate / 16_000), rel=0.2)


async def ends_by_itself(client: Client, daemon: MemoryDaemon) -> None:
    await client.end()


async def ends_badly(client: Client, daemon: MemoryDaemon) -> None:
    await client.send_bytes(b" " * 10 + b"\xff\xff\xff\xff")


async def is_lost(client: Client, daemon: MemoryDaemon) -> None:
    await client.aclose()


async def is_stopped(client: Client, daemon: MemoryDaemon) -> None:
    await daemon.session_server.stop(0)
    await client.aclose()


async def times_out(client: Client, daemon: MemoryDaemon) -> None:
    await trio.sleep(31)


@pytest.mark.parametrize("how", [ends_by_itself, ends_badly, is_lost, is_stopped, times_out])
@pytest.mark.parametrize("what", ["request", "held reply"])
async def test_all_memory_is_released_however_a_connection_ends(how: Any, what: str, autojump_clock: MockClock) -> None:
    log = SlowLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        await client.new_game()
        log.slow = True
        if what == "request":
            await client.send_bytes(short_frame())
        else:
            move = {"kind": "move", "game_id": 1, "player": 1, "move": "e4", "brief": True}
            await client.send({**move, "id": "x" * FRAME})
        await wait_all_tasks_blocked()
        assert daemon.services.memory.held >= FRAME - 10
        await how(client, daemon)
        await wait_all_tasks_blocked()
        for commit in log.commits:
            commit.settle(None)
        await nothing_held(daemon)
        assert daemon.services.memory.by_address() == {}


async def test_wait_for_many_games_is_counted_until_it_ends() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        ids = [(await client.new_game())["game_id"] for _ in range(100)]
        await client.send({"kind": "wait", "player": None, "game_ids": ids})
        await wait_all_tasks_blocked()
        assert daemon.services.memory.held == 100 * GAME_BYTES
        await client.send({"kind": "ping"})
        assert [(await client.receive())["error"] for _ in range(2)] == [None, None]
        await nothing_held(daemon)


async def test_results_that_a_client_never_acknowledges_are_counted_and_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "MAX_RESULTS", 32)
    ping = encode_frame(b'{"kind":"ping"}')
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.send_bytes(ping[:3])
        for number in range(1, 41):
            await end_a_game(daemon, number)
            asked = encode_frame(b'{"kind":"state","player":2,"game_id":%d,"brief":true}' % number)
            await client.send_bytes(ping[3:] + asked + ping[:3])  # so that part of a request is always on the way
            assert [(await client.receive())["error"] for _ in range(2)] == [None, None]
        assert daemon.services.memory.held == 32 * turns.RESULT_BYTES
        await client.send_bytes(ping[3:])
        assert await client.receive() == {"error": None}
        assert (await client.ask("ping"))["error"] is None  # it begins behind the replies, and acknowledges all
        await nothing_held(daemon)
        again = {"kind": "wait", "player": 2, "any": True, "timeout": 0, "brief": True}
        assert [(await client.ask(**again)).get("game_id") for _ in range(9)] == [*range(1, 9), None]


async def end_a_game(daemon: MemoryDaemon, number: int) -> None:
    """Make a game with this number and let player 1 resign it."""
    other = await daemon.connect()
    assert (await other.new_game(1, 2))["game_id"] == number
    ended = await other.ask("end_game", player=1, game_id=number, termination="resignation_white")
    assert ended["error"] is None
    await other.aclose()
