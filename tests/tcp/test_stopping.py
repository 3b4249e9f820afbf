"""A stopping server finishes the requests it has begun, and no others."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from gm_protocol.framing import encode_frame
from gmd.event_log.interface import GameQuery
from tests.helpers import Client, memory_daemon

#: A game so long that loading it takes many turns of the event loop.
LONG_PGN = "Nf3 Nf6 Ng1 Ng8 " * 1_000
PATIENCE_SECONDS = 60


async def test_stopping_server_closes_idle_sessions_without_a_message(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        clients = [await daemon.connect(), await daemon.connect(hello=False)]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(daemon.session_server.stop, 4)
            for client in clients:
                assert await client.closed()
                await client.aclose()
        assert daemon.session_server.sessions == 0
        assert trio.current_time() == 0


async def test_wait_of_a_stopping_server_ends_as_at_its_timeout(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game()
        await client.send({"kind": "wait", "player": 2, "game_id": 1})
        await trio.sleep(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(daemon.session_server.stop, 4)
            reply = await client.receive()
            assert (reply["state"]["turn"], reply["error"]) == ("white", None)
            assert await client.closed()
            await client.aclose()


async def test_stopping_server_finishes_and_answers_begun_requests() -> None:
    async with memory_daemon(max_plies=5_000) as daemon:
        client, other = await daemon.connect(), await daemon.connect()
        await client.send(
            {"kind": "new_game", "player_white": 1, "player_black": 2, "pgn": LONG_PGN},
            {"kind": "wait", "player": 2, "game_id": 1},
            {"kind": "wait", "player": 3, "any": True},
            {"kind": "ping", "id": "last"},
        )
        await other.ask("ping")
        assert await daemon.arbiter.log.rows(GameQuery()) == []  # the game is still loading
        async with trio.open_nursery() as nursery:
            nursery.start_soon(daemon.session_server.stop, PATIENCE_SECONDS)
            assert (await client.receive())["state"]["ply_index"] == 4_000
            assert [(await client.receive())["error"] for _ in range(2)] == [None, None]
            assert await client.receive() == {"id": "last", "error": None}
            for each in (client, other):
                assert await each.closed()
                await each.aclose()


async def test_stopping_server_does_not_answer_new_requests(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        old = await daemon.connect()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(daemon.session_server.stop, 4)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(trio.BrokenResourceError):
                await old.send({"kind": "new_game", "player_white": 1, "player_black": 2})
            new = await daemon.connect(hello=False)
            assert await new.closed()
        assert await daemon.arbiter.log.rows(GameQuery()) == []


async def test_incomplete_frame_is_answered_with_shutting_down(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.send_bytes(encode_frame(b'{"kind":"ping"}')[:-1])
        await trio.sleep(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(daemon.session_server.stop, 4)
            assert (await client.receive())["code"] == "shutting_down"
            assert await client.closed()
            await client.aclose()


async def test_stopping_server_waits_for_a_client_that_does_not_read_no_longer_than_its_patience(
    autojump_clock: MockClock,
) -> None:
    async with memory_daemon() as daemon:
        ours, theirs = trio.testing.lockstep_stream_pair()
        daemon.serve(theirs)
        await Client(ours).send({"kind": "hello"})
        await daemon.session_server.stop(4)
        assert trio.current_time() == pytest.approx(4)
        assert daemon.session_server.sessions == 1
