"""The Python clients with the daemon itself: TLS, Unix sockets, interruptions, and tasks that share a client."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

import gmd
from gm_client import ConnectionLost, GmError, blocking, connect, trio_client
from tests.clients.python_clients import HELLO, OK, JsonPeer, dialogues
from tests.clients.running import PATIENCE
from tests.clients.scripted import Peer
from tests.helpers import running_daemon
from tests.relay import Relay
from tests.tls import Certificates


@pytest.fixture(params=["blocking", "trio"])
def ping(request: pytest.FixtureRequest) -> Any:
    """Return a function that connects, pings and closes."""

    def blocks(**options: Any) -> Any:
        with blocking.connect(**options) as client:
            return client.ping()

    async def waits(**options: Any) -> Any:
        async with await trio_client.connect(**options) as client:
            return await client.ping()

    return blocks if request.param == "blocking" else lambda **options: trio.run(lambda: waits(**options))


def test_tls_accepts_a_trusted_certificate_only(ping: Any, certificates: Certificates) -> None:
    with gmd.background_daemon(gmd.Config(port=0, data=":memory:", **certificates.settings)) as daemon:
        assert ping(host="localhost", port=daemon.port, tls=certificates.trust()) == OK
        with pytest.raises(ConnectionLost, match="certificate verify failed"):
            ping(host="localhost", port=daemon.port, tls=True)


def test_certificate_is_checked_against_the_host_of_the_address_in_use(ping: Any, certificates: Certificates) -> None:
    """The certificate is for localhost and 127.0.0.1."""
    config = gmd.Config(host="0.0.0.0", port=0, data=":memory:", **certificates.settings)
    with gmd.background_daemon(config) as daemon:
        stranger = f"127.0.0.2:{daemon.port}"
        with pytest.raises(ConnectionLost, match=r"127\.0\.0\.2.*; .*127\.0\.0\.2"):
            ping(host=f"{stranger},{stranger}", tls=certificates.trust())
        assert ping(host=f"{stranger},localhost:{daemon.port}", tls=certificates.trust()) == OK


def test_tls_to_a_server_without_tls_fails(ping: Any) -> None:
    with dialogues(JsonPeer.reset) as server, pytest.raises(ConnectionLost, match=r"^cannot connect to localhost:"):
        ping(host="localhost", port=server.port, tls=True)


async def test_idle_tls_connection_is_not_taken_for_a_closed_one(certificates: Certificates) -> None:
    """TLS may send its own messages at any time, such as session tickets."""
    opened = 0

    def ping(port: int) -> None:
        with connect("localhost", port, tls=certificates.trust()) as client:
            for _ in range(3):
                client.ping()

    async with running_daemon(**certificates.settings) as daemon, trio.open_nursery() as nursery:

        def targets() -> list[tuple[str, int]]:
            nonlocal opened
            opened += 1
            return [("127.0.0.1", daemon.port)]

        port = await nursery.start(Relay(targets).run, "127.0.0.1", 0)
        await trio.to_thread.run_sync(ping, port)
        nursery.cancel_scope.cancel()
    assert opened == 1


def test_client_connects_by_unix_socket(ping: Any, tmp_path: Path) -> None:
    with gmd.background_daemon(gmd.Config(port=0, data=str(tmp_path))):
        assert ping(path=str(tmp_path / "operator.sock")) == OK
    with pytest.raises(ConnectionLost, match=f"^cannot connect to {tmp_path}/none: No such file or directory$"):
        ping(path=str(tmp_path / "none"))


# Interruptions.


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt this process, also where it was started with that signal ignored, as by a shell's ``&``."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_interrupted_request_is_not_sent_later() -> None:
    waiting = threading.Event()

    def first(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "wait", "game_id": 1})
        waiting.set()
        peer.expect({"kind": "ping"})
        peer.write({"state": None, "error": None}, OK)  # one reply for the interrupted wait, and one for the ping

    def interrupt() -> None:
        main = threading.main_thread().ident or 0
        assert waiting.wait(PATIENCE)
        while sys._current_frames()[main].f_code is not blocking.Connection.receive.__code__:
            pass  # the peer may have the request before its sender knows, and an interrupt then would be ambiguous
        signal.pthread_kill(main, signal.SIGINT)  # the call of no other thread would be interrupted

    with dialogues(first) as server, connect(port=server.port) as client:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            client.wait(1)
        thread.join()
        assert client.ping() == OK


async def test_cancelled_request_is_not_sent_again() -> None:
    async with scripted() as (client, peers):
        peer = await peers()
        with trio.move_on_after(10) as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(client.state, 1)
                await in_thread(peer.expect, {"kind": "state", "game_id": 1})
                scope.cancel()
        await in_thread(peer.reset)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.ping)
            again = await peers()
            await in_thread(again.expect, {"kind": "ping"})
            await in_thread(again.write, OK)


# Tasks that share a client.


async def test_concurrent_requests_get_their_replies_in_order() -> None:
    async with scripted() as (client, peers):
        peer = await peers()
        replies: dict[int, Any] = {}

        async def ask(number: int) -> None:
            try:
                replies[number] = await client.ping(id=number)
            except GmError as error:
                replies[number] = error.reply

        async with trio.open_nursery() as nursery:
            for number in range(100):
                nursery.start_soon(ask, number)
            asked = [(await in_thread(peer.read))["id"] for _ in range(100)]
            answers = [{**OK, "id": n} if n % 2 else {"id": n, "error": "no", "code": "bad_request"} for n in asked]
            await in_thread(peer.write, *answers)
    assert sorted(asked) == list(range(100))
    assert replies == {answer["id"]: answer for answer in answers}


async def test_cancelled_task_leaves_the_replies_of_others() -> None:
    """The first waiting task receives for all; when it is cancelled, another task takes over."""
    async with scripted() as (client, peers):
        peer = await peers()
        async with trio.open_nursery() as nursery:
            first = trio.CancelScope()

            async def leave() -> None:
                with first:
                    await client.state(1)

            replies: list[Any] = []

            async def stay() -> None:
                replies.append(await client.ping())

            nursery.start_soon(leave)
            await in_thread(peer.expect, {"kind": "state", "game_id": 1})
            nursery.start_soon(stay)
            await in_thread(peer.expect, {"kind": "ping"})
            first.cancel()
            await in_thread(peer.write, {"state": {}, "error": None}, {**OK, "id": 7})
        assert replies == [{**OK, "id": 7}]


async def test_reply_wakes_its_task_while_another_still_waits() -> None:
    async with scripted() as (client, peers):
        peer = await peers()
        async with trio.open_nursery() as nursery:
            answered = trio.Event()

            async def older() -> None:
                await client.ping()
                answered.set()

            nursery.start_soon(older)
            await in_thread(peer.expect, {"kind": "ping"})
            nursery.start_soon(client.state, 1)
            await in_thread(peer.expect, {"kind": "state", "game_id": 1})
            await in_thread(peer.write, OK)
            with trio.fail_after(PATIENCE):
                await answered.wait()
            await in_thread(peer.write, {"state": {}, "error": None})


async def test_loops_run_concurrently_in_one_client() -> None:
    async with running_daemon() as daemon, await trio_client.connect(port=daemon.port, player=1) as client:
        ends: list[int] = []

        async def play(game_id: int, seat: Any) -> None:
            async for turn in client.turns(game_id, seat=seat, over=lambda state: ends.append(state["game_id"])):
                await turn.move(turn.move_actions[0])

        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    game_id = (await client.new_game(1, 1, max_moves=5))["game_id"]
                    nursery.start_soon(play, game_id, "white")
                    nursery.start_soon(play, game_id, "black")
    assert sorted(ends) == [1, 1, 2, 2, 3, 3]


WAIT = {"kind": "wait", "game_id": 4, "actions": True}
MOVE = {"kind": "move", "game_id": 4, "move": "e2e4", "ply": 0}


def due(ply: int) -> dict[str, Any]:
    state = {"game_id": 4, "ply_index": ply, "turn": "white", "phase": "move"}
    return {"state": state, "move_actions": ["e2e4"], "error": None}


async def first_turn(client: trio_client.Client, turns: list[trio_client.Turn]) -> None:
    """Add the first turn of a loop to a list, and leave the loop."""
    async for turn in client.turns(4):
        turns.append(turn)
        break


async def test_loop_left_by_break_closes_its_connection_and_its_turn_still_moves() -> None:
    async with scripted() as (client, peers):
        own, turns = await peers(), list[trio_client.Turn]()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first_turn, client, turns)
            loop = await peers()
            await in_thread(loop.expect, WAIT)
            await in_thread(loop.write, due(0))
        assert await in_thread(loop.read) is None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(turns[0].move, "e2e4")
            await in_thread(own.expect, MOVE)
            await in_thread(own.write, due(1))
        assert turns[0].state["ply_index"] == 1


async def test_action_in_flight_is_finished_before_its_abandoned_loop_closes() -> None:
    async with scripted() as (client, peers):
        await peers()
        async with trio.open_nursery() as nursery:

            async def move_and_leave() -> None:
                async for turn in client.turns(4):
                    nursery.start_soon(turn.move, "e2e4")
                    await trio.testing.wait_all_tasks_blocked()
                    break

            nursery.start_soon(move_and_leave)
            loop = await peers()
            await in_thread(loop.expect, WAIT)
            await in_thread(loop.write, due(0))
            await in_thread(loop.expect, MOVE, WAIT)
            await in_thread(loop.write, due(1))
        assert await in_thread(loop.read) is None


async def test_loop_whose_last_reference_goes_in_another_thread_closes_its_connection() -> None:
    async with scripted() as (client, peers):
        await peers()
        loops = [client.turns(4)]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(anext, loops[0])
            loop = await peers()
            await in_thread(loop.expect, WAIT)
            await in_thread(loop.write, due(0))
        await in_thread(loops.clear)
        assert await in_thread(loop.read) is None


async def test_closing_the_client_ends_its_loops() -> None:
    async with running_daemon() as daemon:
        client = await trio_client.connect(port=daemon.port, player=2)
        game_id = (await client.new_game(1, 2))["game_id"]
        turns = client.turns(game_id)
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:

                async def follow() -> None:
                    with pytest.raises(ConnectionLost, match=r"^the client was closed$"):
                        await anext(turns)

                nursery.start_soon(follow)
                await trio.testing.wait_all_tasks_blocked()
                await client.aclose()


async def test_client_closed_in_a_cancelled_task_leaves_no_connection_open() -> None:
    """Closing the loop's connection was cancelled, so the client's own connection once stayed open."""
    async with scripted() as (client, peers):
        own = await peers()
        scope = trio.CancelScope()

        async def follow() -> None:
            with scope:
                async with client:
                    await anext(client.turns(4))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(follow)
            loop = await peers()
            await in_thread(loop.expect, {"kind": "wait", "game_id": 4, "actions": True})
            scope.cancel()
        assert [await in_thread(peer.read) for peer in (own, loop)] == [None, None]


async def test_cancelled_requests_are_no_failures_of_the_server() -> None:
    """Two of them without a reply between once used up the patience, and the next request failed."""
    async with (
        running_daemon() as daemon,
        await trio_client.connect(port=daemon.port, player=2, patience=0) as client,
    ):
        game_id = (await client.new_game(2, 1))["game_id"]
        for _ in range(2):
            with trio.CancelScope() as sending:
                sending.cancel()
                await client.ping()
            with trio.fail_after(PATIENCE):
                async with trio.open_nursery() as waiting:
                    waiting.start_soon(partial(client.wait, game_id, player=None, ply=0))
                    await trio.testing.wait_all_tasks_blocked()
                    waiting.cancel_scope.cancel()
        with trio.CancelScope() as sending:
            sending.cancel()
            await client.ping()
        assert await client.ping() == OK


async def test_patience_is_measured_by_the_clock_of_trio(autojump_clock: trio.testing.MockClock) -> None:
    client = trio_client.Client(port=1, patience=100)
    with pytest.raises(ConnectionLost, match="Connection refused"):
        await client.ping()
    assert 90 < trio.current_time() <= 100


@contextlib.asynccontextmanager
async def scripted() -> AsyncIterator[tuple[trio_client.Client, Any]]:
    """Yield a client, and a function that returns the server's end of its next connection after the hello."""
    listener = _Listener()
    client = trio_client.Client(port=listener.port, patience=10)
    opened: list[JsonPeer] = []

    async def next_peer() -> JsonPeer:
        async with trio.open_nursery() as nursery:
            if not opened:
                nursery.start_soon(client.open)
            peer = await in_thread(listener.greet)
            opened.append(peer)
        return peer

    try:
        yield client, next_peer
    finally:
        await client.aclose()
        for peer in opened:
            peer.reset()
        listener.close()


class _Listener:
    """Listener that accepts a client's connections one by one."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]

    def greet(self) -> JsonPeer:
        peer = JsonPeer(Peer(self._socket.accept()[0]))
        peer.greet(HELLO)
        return peer

    def close(self) -> None:
        self._socket.close()


async def in_thread(function: Any, *arguments: Any) -> Any:
    with trio.fail_after(PATIENCE):
        return await trio.to_thread.run_sync(lambda: function(*arguments), abandon_on_cancel=True)
