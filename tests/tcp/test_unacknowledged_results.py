"""``wait`` with ``any`` reports the end of a game until the player has received it, whatever happens to connections."""

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
#: Seconds within which a client that asks repeatedly must be done.
PATIENCE = 120


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    with store_in(tmp_path) as store:
        yield store


async def end_a_game(daemon: Daemon) -> None:
    """Let player 1 resign the daemon's next game, whose end player 2 has not seen."""
    game = await daemon.ask("new_game", player_white=1, player_black=2)
    await daemon.ask("end_game", player=1, game_id=game["game_id"], termination="resignation_white")


async def lose(client: Client) -> None:
    """Break the connection; the server sees a reset."""
    assert isinstance(client.stream, trio.SocketStream)
    client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await client.aclose()


async def reported_game(client: Client) -> int | None:
    """Return the id of the game whose end is reported, if any."""
    reply = await client.ask(**WAIT)
    game_id: int | None = reply.get("game_id")
    assert reply == NOTHING if game_id is None else reply["state"]["phase"] == "over"
    return game_id


async def test_end_whose_reply_was_lost_with_the_connection_is_reported_again() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        async with connected(daemon) as client:
            assert await reported_game(client) == 1
            assert await reported_game(client) is None, "a session learns it once"
            await end_a_game(daemon)
            assert await reported_game(client) == 2
            await lose(client)
        async with connected(daemon) as client:
            assert await reported_game(client) == 2, "and not 1: a request came behind that reply"
            await client.ask("ping")
            await lose(client)
        async with connected(daemon) as client:
            assert await reported_game(client) is None


async def test_request_sent_before_the_reply_acknowledges_nothing() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        async with connected(daemon) as client:
            await client.send(WAIT, {"kind": "ping"}, WAIT)
            assert (await client.receive())["game_id"] == 1
            assert [await client.receive() for _ in range(2)] == [{"error": None}, NOTHING]
            await lose(client)
        async with connected(daemon) as client:
            assert await reported_game(client) == 1


async def test_request_begun_before_the_reply_acknowledges_nothing() -> None:
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
            assert [await reported_game(client) for _ in range(3)] == [1, 2, None]


async def test_client_that_closes_after_the_reply_has_acknowledged_it() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        with trio.fail_after(PATIENCE):
            times = 0
            while True:  # the daemon learns of the closed connection when it next reads
                async with connected(daemon) as client:
                    if await reported_game(client) is None:
                        break
                    times += 1
        assert times > 0


@pytest.mark.parametrize("ends_first", [False, True])
async def test_version_1_session_acknowledges_the_end_by_closing_its_connection(ends_first: bool) -> None:
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


async def test_lost_version_1_session_acknowledges_nothing() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        for _ in range(3):
            async with connected(daemon, hello=False) as client:
                assert await reported_game(client) == 1
                await lose(client)


async def test_client_in_the_daemons_own_process_acknowledges_what_is_returned_to_it() -> None:
    async with running_daemon() as daemon:
        await end_a_game(daemon)
        wait = {"player": 2, "any": True, "timeout": 0}
        assert (await daemon.ask("wait", **wait))["game_id"] == 1
        assert (await daemon.ask("wait", **wait))["state"] is None


async def test_end_that_was_not_stored_is_not_reported_and_the_later_one_is(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game()
        store.fault = OSError("no space")
        refused = await black.ask("end_game", game_id=1, termination="resignation_black")
        assert refused["code"] == "internal"
        store.fault = None
        assert (await white.ask("end_game", game_id=1, termination="resignation_white"))["error"] is None
        assert [await reported_game(black) for _ in range(2)] == [1, None]


async def test_restarted_daemon_reports_again_every_end_that_was_not_acknowledged(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        for _ in range(2):
            await white.new_game()
        await white.ask("end_game", game_id=1, termination="resignation_white")
        assert await reported_game(black) == 1
        # stores that the end of game 1 was not reported
        await white.ask("end_game", game_id=2, termination="resignation_white")
        assert await reported_game(black) == 2
        await white.new_game(1, 3)  # and this stores that it was
    async with durable_daemon(store) as daemon:
        black = await daemon.connect(player=2)
        assert [await reported_game(black) for _ in range(2)] == [2, None]
