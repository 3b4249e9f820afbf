"""The end of a game is told by ``wait`` with ``any`` until the player has it, whatever becomes of connections."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from gmd.daemon import Daemon
from tests.helpers import Client, FaultyStore, Json, connected, durable_daemon, running_daemon, store_in

WAIT: Json = {"kind": "wait", "player": 2, "any": True, "timeout": 0, "brief": True}
NOTHING: Json = {"state": None, "error": None}
#: Seconds in which a client that asks again and again is to be through with it.
PATIENCE = 120


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    with store_in(tmp_path) as store:
        yield store


async def end_a_game(daemon: Daemon) -> None:
    """Player 1 gives up the daemon's next game, which player 2 has not seen."""
    game = await daemon.ask("new_game", player_white=1, player_black=2)
    await daemon.ask("end_game", player=1, game_id=game["game_id"], termination="resignation_white")


async def lose(client: Client) -> None:
    """Break the connection: the server is told so by a reset."""
    assert isinstance(client.stream, trio.SocketStream)
    client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await client.aclose()


async def told(client: Client) -> int | None:
    """The game that is told of, if one is."""
    reply = await client.ask(**WAIT)
    game_id: int | None = reply.get("game_id")
    assert reply == NOTHING if game_id is None else reply["state"]["phase"] == "over"
    return game_id


async def test_an_end_whose_reply_was_lost_with_the_connection_is_told_again() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        async with connected(daemon) as client:
            assert await told(client) == 1
            assert await told(client) is None, "a session is told once"
            await end_a_game(daemon)
            assert await told(client) == 2
            await lose(client)
        async with connected(daemon) as client:
            assert await told(client) == 2, "and not 1: a request came behind that reply"
            await client.ask("ping")
            await lose(client)
        async with connected(daemon) as client:
            assert await told(client) is None


async def test_a_request_that_was_sent_before_the_reply_tells_nothing() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        async with connected(daemon) as client:
            await client.send(WAIT, {"kind": "ping"}, WAIT)
            assert (await client.receive())["game_id"] == 1
            assert [await client.receive() for _ in range(2)] == [{"error": None}, NOTHING]
            await lose(client)
        async with connected(daemon) as client:
            assert await told(client) == 1


async def test_the_beginning_of_a_request_that_was_sent_before_tells_nothing_either() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        ping = b'\0\0\0\x0f{"kind":"ping"}'
        async with connected(daemon) as client:
            await client.send({**WAIT, "timeout": None, "except": [1]})
            await client.send_bytes(ping[:10])
            await end_a_game(daemon)
            assert (await client.receive())["game_id"] == 2
            await client.send_bytes(ping[10:])
            assert await client.receive() == {"error": None}
            await lose(client)
        async with connected(daemon) as client:
            assert [await told(client) for _ in range(3)] == [1, 2, None]


async def test_whoever_closes_behind_the_reply_has_it() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        with trio.fail_after(PATIENCE):
            times = 0
            while True:  # the daemon learns of the closing when it looks next
                async with connected(daemon) as client:
                    if await told(client) is None:
                        break
                    times += 1
        assert times > 0


@pytest.mark.parametrize("ends_first", [False, True])
async def test_a_session_of_version_1_has_it_once_its_connection_is_closed(ends_first: bool) -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        with trio.fail_after(PATIENCE):
            times = 0
            while True:
                async with connected(daemon, hello=False) as client:
                    await client.send(WAIT)
                    if ends_first:
                        await client.end()
                    if await client.receive() == NOTHING:
                        break
                    times += 1
        assert times > 0


async def test_a_session_of_version_1_that_was_lost_has_it_not() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        for _ in range(3):
            async with connected(daemon, hello=False) as client:
                assert await told(client) == 1
                await lose(client)


async def test_who_asks_in_the_daemons_own_process_has_what_is_returned() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        wait = {"player": 2, "any": True, "timeout": 0}
        assert (await daemon.ask("wait", **wait))["game_id"] == 1
        assert (await daemon.ask("wait", **wait))["state"] is None


async def test_an_end_that_was_not_written_is_not_told_and_the_later_one_is(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game()
        store.fault = OSError("no space")
        refused = await black.ask("end_game", game_id=1, termination="resignation_black")
        assert refused["code"] == "internal"
        store.fault = None
        assert (await white.ask("end_game", game_id=1, termination="resignation_white"))["error"] is None
        assert [await told(black) for _ in range(2)] == [1, None]


async def test_a_daemon_that_was_killed_tells_again_what_nobody_has_shown_to_know(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        for _ in range(2):
            await white.new_game()
        await white.ask("end_game", game_id=1, termination="resignation_white")
        assert await told(black) == 1
        await white.ask("end_game", game_id=2, termination="resignation_white")  # which writes that 1 is not told
        assert await told(black) == 2
        await white.new_game(1, 3)  # and this that 1 is
    async with durable_daemon(store) as daemon:
        black = await daemon.connect(player=2)
        assert [await told(black) for _ in range(2)] == [2, None]
