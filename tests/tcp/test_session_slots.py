"""Which session ends to make room when all slots are taken, over real sockets from several addresses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import structlog
import trio
import trio.testing
from trio.testing import MockClock

from gm_protocol.framing import encode_frame
from gmd.daemon import Daemon
from tests.helpers import Client, Json, running_daemon
from tests.tls import Certificates

pytestmark = pytest.mark.usefixtures("separate_loopback")

#: Addresses of this machine, each of one client; and the address of all other clients.
HOG, HONEST, OTHER = "127.0.0.2", "127.0.0.3", "127.0.0.4"

EVICTED: Json = {
    "code": "too_many",
    "retry_after": 5.0,
    "error": "max_connections: 3 of 3 are open, and another client has the place of this session; connect again",
}
REFUSED: Json = {
    "code": "too_many",
    "retry_after": 5.0,
    "error": "max_connections: 3 of 3 are open; try again later",
}

#: Opens a connection from an address, sends its hello, and may name a player.
Open = Callable[..., Awaitable[Client]]


@asynccontextmanager
async def connections_to(daemon: Daemon) -> AsyncIterator[Open]:
    """Return a function that opens connections, in the same order for the daemon."""
    async with AsyncExitStack() as stack:

        async def connect(address: str, *, hello: bool = True, player: int | None = None) -> Client:
            turned_away, sessions = daemon.session_server.turned_away, daemon.metrics.sessions.copy()
            before, evicted = daemon.session_server.sessions, daemon.session_server.evicted
            client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port, local_address=address))
            stack.push_async_callback(client.aclose)
            while (
                daemon.session_server.sessions,
                daemon.session_server.evicted,
                daemon.session_server.turned_away,
            ) == ((before, evicted, turned_away)) and daemon.metrics.sessions == sessions:
                await trio.testing.wait_all_tasks_blocked()
            if hello:
                reply = await client.ask("hello", player=player)
                assert reply["error"] is None, reply
            return client

        yield connect


async def is_well(client: Client) -> bool:
    return await client.ask("ping") == {"error": None}


async def test_address_with_all_sessions_loses_its_oldest_idle_one_to_another_address() -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(max_connections=3) as daemon, connections_to(daemon) as connect:
            first, second, third = [await connect(HOG) for _ in range(3)]
            assert await is_well(first)
            honest = await connect(HONEST)
            assert await second.receive() == EVICTED
            assert await second.closed()
            for client in (first, third, honest):
                assert await is_well(client)
            assert (daemon.session_server.evicted, daemon.session_server.turned_away) == (1, 0)
            assert daemon.metrics.sessions[2, "too_many"] == 1
    (line,) = [each for each in logged if each["event"] == "session ended" and each["reason"] == "too_many"]
    assert line["log_level"] == "info"
    assert line["peer"].startswith(f"{HOG}:")


async def test_every_address_gets_in_while_one_address_keeps_opening_sessions() -> None:
    async with running_daemon(max_connections=4) as daemon, connections_to(daemon) as connect:
        for _ in range(4):
            await connect(HOG, hello=False)
        honest = await connect(HONEST)
        other = await connect(OTHER)
        for _ in range(8):
            await connect(HOG, hello=False)
            assert await is_well(honest)
            assert await is_well(other)
        assert daemon.session_server.slots_taken == 4


async def test_oldest_session_without_a_hello_is_evicted_first_among_one_address() -> None:
    async with running_daemon(max_connections=3) as daemon, connections_to(daemon) as connect:
        bot = await connect(HOG, player=1)
        silent, half = [await connect(HOG, hello=False) for _ in range(2)]
        await half.send_bytes(encode_frame(b'{"kind":"ping"}')[:-1])
        second = await connect(HOG)
        assert await silent.receive() == EVICTED
        third = await connect(HOG)
        assert await half.receive() == EVICTED
        refused = await connect(HOG, hello=False)
        assert await refused.receive() == REFUSED
        for client in (bot, second, third):
            assert await is_well(client)


async def test_long_idle_session_is_evicted_for_a_newcomer_of_the_same_address(autojump_clock: MockClock) -> None:
    async with running_daemon(max_connections=3, idle_timeout=3600) as daemon, connections_to(daemon) as connect:
        first, second, third = [await connect(HOG, player=1) for _ in range(3)]
        await trio.sleep(59)
        assert await is_well(first)
        assert await is_well(third)
        await trio.sleep(2)
        await connect(HOG)
        assert await second.receive() == EVICTED
        assert await is_well(first)
        assert await is_well(third)


async def test_session_with_a_request_under_way_or_a_seat_stays_while_another_is_idle() -> None:
    async with running_daemon(max_connections=3) as daemon, connections_to(daemon) as connect:
        playing = await connect(HOG, player=1)
        await playing.new_game()
        await playing.play(1, "e4")
        waiting = await connect(HOG)
        await waiting.send({"kind": "wait", "game_id": 1, "player": 1, "timeout": 60})
        await trio.testing.wait_all_tasks_blocked()
        idle = await connect(HOG, player=2)
        first = await connect(HONEST)
        assert await idle.receive() == EVICTED
        second = await connect(OTHER)  # now their address has no idle session, and no other address has more than one
        state = (await waiting.receive())["state"]
        assert state["ply_index"] == 1
        assert await waiting.receive() == EVICTED
        assert await waiting.closed()
        for client in (playing, first, second):
            assert await is_well(client)


async def test_session_whose_opponent_has_ended_the_game_no_longer_counts_as_playing() -> None:
    async with running_daemon(max_connections=3) as daemon, connections_to(daemon) as connect:
        over, on, waiting = [await connect(HOG, player=player) for player in (1, 2, 3)]
        await over.new_game(1, 2)
        await on.new_game(2, 3)
        await waiting.send({"kind": "wait", "game_id": 2, "timeout": 60})
        await on.ask("end_game", game_id=1, termination="resignation_black")
        assert (await on.ask("state", game_id=2))["error"] is None
        assert await is_well(over)  # a ping is no request about a game
        await connect(HONEST)
        assert await over.receive() == EVICTED
        assert await is_well(on)


async def test_evicted_session_gets_the_replies_to_its_requests() -> None:
    async with running_daemon(max_connections=3) as daemon, connections_to(daemon) as connect:
        asking = [await connect(HOG) for _ in range(3)]
        pings: list[Json] = [{"kind": "ping", "id": number} for number in range(100)]
        for client in asking:
            await client.send(*pings)
        await connect(HONEST)
        assert daemon.session_server.evicted == 1
        for client in asking:
            for number in range(100):
                assert await client.receive() == {"id": number, "error": None}


async def test_evicted_session_that_reads_nothing_is_cut_off_after_a_second(autojump_clock: MockClock) -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(max_connections=2) as daemon, connections_to(daemon) as connect:
            greedy, waiting = [await connect(HOG) for _ in range(2)]
            await greedy.new_game()
            with trio.move_on_after(5):
                while True:
                    await greedy.send(*[{"kind": "state", "game_id": 1}] * 1_000)
            await waiting.send({"kind": "wait", "game_id": 1, "timeout": 60})
            await trio.testing.wait_all_tasks_blocked()
            honest = await connect(HONEST)
            assert (daemon.session_server.slots_taken, daemon.session_server.sessions) == (2, 3)
            await trio.sleep(1.1)
            assert daemon.session_server.sessions == 2
            assert await is_well(honest)
    ends = [each["reason"] for each in logged if each["event"] == "session ended"]
    assert (ends[0], ends.count("too_many")) == ("too_many", 1)


async def test_address_gets_no_more_than_its_share_while_there_is_room() -> None:
    async with (
        running_daemon(max_connections=10, max_connections_per_address=2) as daemon,
        connections_to(daemon) as connect,
    ):
        inside = [await connect(HOG) for _ in range(2)]
        refused = await connect(HOG, hello=False)
        assert await refused.receive() == {
            "code": "too_many",
            "retry_after": 5.0,
            "error": "max_connections_per_address: 2 of 2 from this address are open; close some",
        }
        inside += [await connect(HONEST) for _ in range(2)]
        for client in inside:
            assert await is_well(client)
        await inside[0].aclose()
        while daemon.session_server.sessions == 4:
            await trio.testing.wait_all_tasks_blocked()
        silent = await connect(HOG, hello=False)
        await connect(HOG)
        assert (await silent.receive())["error"] == (
            "max_connections_per_address: 2 of 2 from this address are open, "
            "and another client has the place of this session; connect again"
        )


async def test_tls_handshake_is_ended_to_make_room_for_a_newcomer(certificates: Certificates) -> None:
    async with running_daemon(max_connections=2, **certificates.settings) as daemon:
        streams = [
            await trio.open_tcp_stream("127.0.0.1", daemon.port, local_address=address) for address in (HOG, HOG)
        ]
        while daemon.session_server.slots_taken < 2:
            await trio.testing.wait_all_tasks_blocked()
        third = await trio.open_tcp_stream("127.0.0.1", daemon.port, local_address=HONEST)
        assert await streams[0].receive_some() == b""
        assert (daemon.session_server.slots_taken, daemon.session_server.evicted) == (2, 1)
        for stream in (*streams, third):
            await stream.aclose()


async def test_tls_hello_that_announces_a_great_length_is_refused_at_once(certificates: Certificates) -> None:
    """OpenSSL would reserve the announced length for as long as a handshake may take."""
    async with running_daemon(**certificates.settings) as daemon:
        async with await trio.open_tcp_stream("127.0.0.1", daemon.port) as stream:
            await stream.send_all(bytes.fromhex("160301 3fff 01 003f00") + bytes(1_000))
            assert await stream.receive_some() == b""
        assert daemon.memory.held == 0
