"""The event loop is blocked for a while: requests that arrived meanwhile are read before any deadline acts, and no
player is charged for that time.

One turn of the loop takes long, on a clock that is set, so all figures are exact.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import chess
import httpx
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gm_protocol.endings import Cause, Ending
from gm_protocol.framing import encode_frame
from gmd.daemon import Daemon, open_daemon
from gmd.event_log.memory import MemoryLog
from gmd.net import loop_time
from gmd.play.arbiter import Arbiter
from tests.helpers import Client, Json, MemoryDaemon, connected, memory_daemon, running_daemon
from tests.set_clock import SetClock, run

#: In seconds: a clock's time, the time that passes before the loop is blocked, and how long it is blocked.
BASE, BEFORE, AWAY = 10, 4, 25
GAMES = 8
CLOCK: Json = {"initial": BASE}

#: The tolerance in seconds: clocks are shown to the millisecond, and the loop may be blocked in the middle of a turn.
EXACT = 0.002


def at_home(test: Callable[[SetClock, MemoryDaemon], Awaitable[None]], log: MemoryLog | None = None) -> None:
    """Run a test with a daemon in memory, on a clock that is set."""

    async def main(clock: SetClock) -> None:
        with loop_time.watched():
            async with memory_daemon(log) as daemon:
                await test(clock, daemon)

    run(main)


async def begun(daemon: MemoryDaemon, count: int = GAMES, **options: Any) -> tuple[list[Client], list[Client]]:
    """Return White's and Black's session in each game, whose clocks have just started."""
    whites = [await daemon.connect(player=1) for _ in range(count)]
    blacks = [await daemon.connect(player=2) for _ in range(count)]
    for number, (white, black) in enumerate(zip(whites, blacks, strict=True), 1):
        await white.new_game(**{"clock": CLOCK, **options})
        for client in (white, black):
            await client.ask("state", game_id=number)
    return whites, blacks


async def clock_of(daemon: MemoryDaemon, game_id: int = 1) -> Json:
    """Return what a game's clocks show."""
    state = (await (await daemon.connect()).ask("state", game_id=game_id))["state"]
    assert state["phase"] == "move", state["termination"]
    clock: Json = state["clock"]
    return clock


def test_unread_moves_count_and_are_charged_only_until_the_loop_was_blocked() -> None:
    async def test(clock: SetClock, daemon: MemoryDaemon) -> None:
        whites, _ = await begun(daemon)
        await clock.sleep(BEFORE)
        for number, white in enumerate(whites, 1):
            await white.send({"kind": "move", "game_id": number, "move": "e4"})
        clock.skip(AWAY)
        for white in whites:
            reply = await white.receive()
            assert reply["error"] is None
            assert reply["state"]["clock"] == {"white": pytest.approx(BASE - BEFORE, abs=EXACT), "black": BASE}

    at_home(test)


@pytest.mark.parametrize("lag", [0, 2])
def test_player_who_has_not_moved_is_not_charged_while_the_loop_is_blocked(lag: float) -> None:
    async def test(clock: SetClock, daemon: MemoryDaemon) -> None:
        whites, blacks = await begun(daemon, 1, clock={"initial": BASE, "lag": lag})
        await clock.sleep(BEFORE)
        for _ in range(3):
            clock.skip(AWAY)
            await loop_time.caught_up()
        shown = await clock_of(daemon)
        assert shown == {"white": pytest.approx(BASE - BEFORE, abs=EXACT), "black": BASE}
        await blacks[0].send({"kind": "wait", "game_id": 1})
        await clock.sleep(BASE - BEFORE + lag - 0.1)
        assert (await whites[0].ask("state", game_id=1))["state"]["phase"] == "move"
        await clock.sleep(0.2)
        assert (await blacks[0].receive())["state"]["termination"] == "timeout_white"

    at_home(test)


def test_replaying_the_log_gives_the_same_clocks() -> None:
    log = MemoryLog()

    async def test(clock: SetClock, daemon: MemoryDaemon) -> None:
        whites, blacks = await begun(daemon, 1)
        for client, move in ((whites[0], "e4"), (blacks[0], "e5"), (whites[0], "Nf3")):
            await clock.sleep(1)
            await client.send({"kind": "move", "game_id": 1, "move": move})
            clock.skip(AWAY)
            assert (await client.receive())["error"] is None
            await loop_time.caught_up()
        played = (await daemon.arbiter.live_game(1)).game
        again = (await Arbiter(log, 300, 300).live_game(1)).game
        assert played.clock is not None
        assert again.clock is not None
        for color in (True, False):
            assert again.clock.left(color) == played.clock.left(color)
        assert played.clock.show(False, 0.0).white == pytest.approx(BASE - 2, abs=EXACT)

    at_home(test, log)


@pytest.mark.slow
def test_start_and_invitation_timeouts_do_not_run_while_the_loop_is_blocked() -> None:
    async def test(clock: SetClock, daemon: MemoryDaemon) -> None:
        client = await daemon.connect()
        names = ("anna", "ben")
        anna, ben = [await client.ask("register", name=name) for name in names]
        here = await daemon.connect()
        assert (await here.ask("hello", protocol=2, player=ben["player"], key=ben["key"]))["error"] is None
        await client.ask("hello", protocol=2, player=anna["player"], key=anna["key"])
        challenge = await client.ask("challenge", opponent="ben")
        assert challenge["error"] is None, challenge
        awaits_contact = await (await daemon.connect()).new_game(clock=CLOCK)
        game_ids = [challenge["game_id"], awaits_contact["game_id"]]
        await clock.sleep(1)
        clock.skip(1_000)
        await loop_time.caught_up()
        for game_id in game_ids:
            assert not (await daemon.arbiter.live_game(game_id)).game.over
        await clock.sleep(298, step=0.08)
        for game_id in game_ids:
            assert not (await daemon.arbiter.live_game(game_id)).game.over
        await clock.sleep(3)
        ends = [(await daemon.arbiter.live_game(game_id)).game.now.ending for game_id in game_ids]
        assert ends == [Ending(Cause.EXPIRED), Ending(Cause.TIMEOUT, winner=chess.BLACK)]

    at_home(test)


def test_expired_wait_is_answered_after_the_unread_requests_are_read() -> None:
    async def test(clock: SetClock, daemon: MemoryDaemon) -> None:
        whites, blacks = await begun(daemon)
        for number, black in enumerate(blacks, 1):
            await black.send({"kind": "wait", "game_ids": [number], "timeout": 5})
        await wait_all_tasks_blocked()
        for number, white in enumerate(whites[1:], 2):
            await white.send({"kind": "move", "game_id": number, "move": "e4"})
        clock.skip(AWAY)
        replies = [await black.receive() for black in blacks]
        assert replies[0]["state"] is None  # nothing happened, and its time is up
        assert [reply["state"]["last_move"] for reply in replies[1:]] == ["e2e4"] * (GAMES - 1)

    at_home(test)


def test_frame_in_progress_may_still_be_completed_after_the_loop_was_blocked() -> None:
    async def test(clock: SetClock, daemon: MemoryDaemon) -> None:
        client = await daemon.connect(player=1)
        frame = encode_frame(b'{"kind":"ping"}')
        await client.send_bytes(frame[:9])
        await wait_all_tasks_blocked()
        clock.skip(3_600)
        await loop_time.caught_up()
        await wait_all_tasks_blocked()
        await client.send_bytes(frame[9:])
        assert (await client.receive())["error"] is None
        await client.send_bytes(frame[:9])
        await clock.sleep(31)
        assert (await client.receive())["code"] == "bad_frame"

    at_home(test)


def test_moves_on_unaccepted_version_1_connections_count() -> None:
    async def main(clock: SetClock) -> None:
        async with (
            running_daemon() as daemon,
            connected(daemon, player=1) as white,
            connected(daemon, player=2) as black,
        ):
            for number in range(1, GAMES + 1):
                await white.new_game(clock=CLOCK)
                for client in (white, black):
                    await client.ask("state", game_id=number)
            await clock.sleep(1)
            sockets = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(GAMES)]
            for number, connection in enumerate(sockets, 1):
                body = json.dumps({"kind": "move", "game_id": number, "player": 1, "move": "e4"}).encode()
                connection.sendall(encode_frame(body))
            clock.skip(AWAY)
            for connection in sockets:
                connection.setblocking(False)
                with trio.socket.from_stdlib_socket(connection) as accepted:
                    reply = await Client(trio.SocketStream(accepted)).receive()
                assert reply["error"] is None
                assert reply["state"]["clock"]["white"] == pytest.approx(BASE - 1, abs=EXACT)
            clock.let_go()

    run(main)


def test_requests_of_the_embedding_program_count() -> None:
    async def main(clock: SetClock) -> None:
        async with open_daemon() as daemon:
            await daemon.ask("new_game", player_white=1, player_black=2, clock=CLOCK)
            for player in (1, 2):
                await daemon.ask("state", game_id=1, player=player)
            await clock.sleep(1)
            replies: list[Json] = []

            async def move() -> None:
                replies.append(await daemon.ask("move", game_id=1, player=1, move="e4"))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(move)
                clock.skip(AWAY)
            assert replies[0]["state"]["clock"] == {"white": pytest.approx(BASE - 1, abs=EXACT), "black": BASE}

    run(main)


async def _blind_game(daemon: Daemon) -> tuple[int, str, str]:
    """Return the id, name and key of White, who is to move in game 1, whose clocks have just started."""
    players = [await daemon.ask_as_operator("register", name=name) for name in ("white-bot", "black-bot")]
    white, black = (player["player"] for player in players)
    clock = {"initial": BASE}
    await daemon.ask_as_operator(
        "new_game", player=white, player_white=white, player_black=black, variant="rbc", clock=clock
    )
    await daemon.ask_as_operator("join", player=black, game_id=1)
    for player in (white, black):
        await daemon.ask_as_operator("state", player=player, game_id=1)
    return white, players[0]["name"], players[0]["key"]


@pytest.mark.slow
def test_requests_over_http_count() -> None:
    async def main(clock: SetClock) -> None:
        async with running_daemon(http=True, http_port=0) as daemon:
            white, *auth = await _blind_game(daemon)
            await clock.sleep(1)
            address = f"http://127.0.0.1:{daemon.http_port}/api/games/1/sense"
            request = httpx.Request("POST", address, json={"square": 9}, headers={"Connection": "close"})
            flow = httpx.BasicAuth(*auth).auth_flow(request)
            next(flow)
            head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
            connection = socket.create_connection(("127.0.0.1", daemon.http_port))
            connection.sendall(f"POST /api/games/1/sense HTTP/1.1\r\n{head}\r\n".encode() + request.content)
            clock.skip(AWAY)
            connection.setblocking(False)
            with trio.socket.from_stdlib_socket(connection) as accepted:
                response = b""
                while data := await accepted.recv(65_536):
                    response += data
            assert response.startswith(b"HTTP/1.1 200 "), response
            state = (await daemon.ask_as_operator("state", player=white, game_id=1))["state"]
            assert state["clock"]["white"] == pytest.approx(BASE - 1, abs=EXACT)
            clock.let_go()

    run(main)
