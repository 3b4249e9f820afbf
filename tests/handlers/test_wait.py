"""``wait`` is answered as soon as there is something to do, at the latest at the timeout, measured by the jumping
clock.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import structlog
import trio
from trio.testing import MockClock

from gm_protocol.errors import Internal
from gmd.event_log.memory import MemoryLog
from gmd.games.events import AnyEvent
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon

WAITERS = 20


async def timed(ask: Awaitable[Json]) -> tuple[Json, float]:
    """Return a reply and the seconds that it took."""
    start = trio.current_time()
    return await ask, trio.current_time() - start


async def meanwhile(client: Client, act: Callable[[], Awaitable[Any]], **fields: Any) -> tuple[Json, float]:
    """Return the reply to a wait and the seconds that it took; ``act`` is called 10 seconds into it."""
    replies = []

    async def wait() -> None:
        replies.append(await timed(client.ask("wait", **fields)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(10)
        await act()
    return replies[0]


async def pair(daemon: MemoryDaemon) -> tuple[Client, Client]:
    """Return sessions of players 1 and 2."""
    return await daemon.connect(player=1), await daemon.connect(player=2)


async def test_wait_is_answered_at_once_if_the_player_is_to_move(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await pair(daemon)
        await white.new_game()
        reply, seconds = await timed(white.ask("wait", game_id=1))
        assert seconds == 0
        assert set(reply) == {"state", "error"}
        assert reply["state"] == (await white.ask("state", game_id=1))["state"]


async def test_wait_is_answered_at_once_if_the_game_is_over(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        await black.ask("end_game", game_id=1, termination="resignation_black")
        for _ in range(2):  # every time, because the request names the game
            for client in (white, black):
                reply, seconds = await timed(client.ask("wait", game_id=1))
                assert (reply["state"]["phase"], seconds) == ("over", 0)


async def test_move_of_the_opponent_ends_the_wait(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        reply, seconds = await meanwhile(black, lambda: white.play(1, "e4"), game_id=1)
        assert (reply["state"]["last_move"], reply["state"]["turn"], seconds) == ("e2e4", "black", 10)


@pytest.mark.parametrize(("asked", "seconds"), [(0.25, 0.25), (61, 60), (1e300, 60), (None, 60)])
async def test_wait_ends_at_its_timeout_and_at_the_limit_of_the_server(
    asked: float | None, seconds: float, autojump_clock: MockClock
) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        reply, waited = await timed(black.ask("wait", game_id=1, timeout=asked))
        assert (reply["state"]["turn"], reply["error"]) == ("white", None)
        assert waited == pytest.approx(seconds)


async def test_wait_with_a_timeout_of_0_polls(autojump_clock: MockClock) -> None:
    async with memory_daemon(max_wait=0) as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        for fields in ({"timeout": 0}, {}):
            reply, seconds = await timed(black.ask("wait", game_id=1, **fields))
            assert (reply["state"]["turn"], seconds) == ("white", 0)
        reply, seconds = await timed(black.ask("wait", any=True, timeout=0))
        assert (reply, seconds) == ({"state": None, "error": None}, 0)


async def test_wait_can_name_several_games(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        for _ in range(3):
            await white.new_game()
        reply, seconds = await meanwhile(black, lambda: white.play(2, "e4"), game_ids=[1, 2, 3], brief=True)
        assert (reply["game_id"], reply["state"]["game_id"], reply["error"], seconds) == (2, 2, None, 10)
        await white.play(1, "e4")
        reply, seconds = await timed(black.ask("wait", game_ids=[3, 2, 1]))
        assert (reply["game_id"], seconds) == (2, 0)  # the first named game in which the player is to act
        reply, seconds = await timed(black.ask("wait", game_ids=[3]))
        assert (reply, seconds) == ({"state": None, "error": None}, 60)


async def test_wait_returns_actions_on_request(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        await white.new_game(fen="7k/8/8/8/8/8/5Q2/K7 b - - 0 1")
        moves = (await black.ask("actions", game_id=1))["move_actions"]
        assert sorted(moves) == ["h8g7", "h8g8", "h8h7"]
        reply = await black.ask("wait", game_id=1, actions=True)
        assert (reply["sense_actions"], reply["move_actions"]) == (None, moves)
        reply = await white.ask("wait", game_id=1, actions=True)
        assert (reply["sense_actions"], reply["move_actions"]) == (None, None)
        reply = await black.ask("wait", any=True, actions=True)
        assert (reply["game_id"], reply["move_actions"]) == (1, moves)
        reply = await white.ask("wait", player=None, game_id=1, ply=0, timeout=0, actions=True)
        assert reply["move_actions"] is None


async def test_spectator_waits_until_the_game_is_past_a_ply(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await pair(daemon)
        spectator = await daemon.connect()
        await white.new_game()
        reply, seconds = await meanwhile(spectator, lambda: white.play(1, "e4"), game_id=1, ply=0)
        assert (reply["state"]["ply_index"], seconds) == (1, 10)
        assert "game_id" not in reply
        reply, seconds = await timed(spectator.ask("wait", game_id=1, ply=0))
        assert (reply["state"]["ply_index"], seconds) == (1, 0)
        reply, seconds = await timed(spectator.ask("wait", game_id=1, ply=1))
        assert (reply["state"]["ply_index"], seconds) == (1, 60)

        async def resign() -> None:
            await white.ask("end_game", game_id=1, termination="resignation_white")

        reply, seconds = await meanwhile(spectator, resign, game_id=1, ply=1)
        assert (reply["state"]["phase"], seconds) == ("over", 10)


async def test_later_frame_ends_the_wait_as_its_timeout_would(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        await black.send({"kind": "wait", "game_id": 1, "id": "wait"})
        await trio.sleep(5)
        await black.send({"kind": "ping", "id": "ping"})
        reply, seconds = await timed(black.receive())
        assert (reply["id"], reply["state"]["turn"], reply["error"], seconds) == ("wait", "white", None, 0)
        assert await black.receive() == {"id": "ping", "error": None}


@pytest.mark.parametrize(
    "wait", [{"game_id": 1}, {"game_ids": [1]}, {"any": True}, {"player": None, "game_id": 1, "ply": 0}]
)
async def test_frame_that_has_already_arrived_ends_the_wait_at_once(wait: Json, autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        await black.send(
            {"kind": "wait", "id": 1, **wait}, {"kind": "wait", "id": 2, **wait}, {"kind": "ping", "id": 3}
        )
        replies = [await black.receive() for _ in range(3)]
        assert [(reply["id"], reply["error"]) for reply in replies] == [(1, None), (2, None), (3, None)]
        assert trio.current_time() == 0


async def test_end_of_input_does_not_end_the_wait(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        await black.send({"kind": "wait", "game_id": 1})
        await black.end()
        await trio.sleep(10)
        await white.play(1, "e4")
        assert (await black.receive())["state"]["turn"] == "black"
        assert await black.closed()
        assert trio.current_time() == 10


async def test_requests_pipelined_before_the_wait_are_answered_before_it(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await pair(daemon)
        await white.send(
            {"kind": "new_game", "player_white": 1, "player_black": 2},
            {"kind": "move", "game_id": 1, "move": "e4"},
            {"kind": "wait", "game_id": 1},
        )
        assert (await white.receive())["game_id"] == 1
        assert (await white.receive())["state"]["ply_index"] == 1
        assert trio.current_time() == 0
        assert (await white.receive())["state"]["ply_index"] == 1
        assert trio.current_time() == 60


async def test_one_move_ends_any_number_of_waits(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await pair(daemon)
        await white.new_game()
        waiters = [await daemon.connect() for _ in range(WAITERS)]
        kinds: list[Json] = [
            {"player": 2, "game_id": 1},
            {"player": 2, "game_ids": [1]},
            {"player": 2, "any": True},
            {"player": None, "game_id": 1, "ply": 0},
        ]
        for number, waiter in enumerate(waiters):
            await waiter.send({"kind": "wait", "brief": True, **kinds[number % len(kinds)]})
        await trio.sleep(3)
        await white.play(1, "e4")
        states = [(await waiter.receive())["state"] for waiter in waiters]
        assert trio.current_time() == 3
        assert all(state == states[0] for state in states)
        assert states[0]["ply_index"] == 1


async def test_player_with_both_seats_may_wait_for_one_in_several_games(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        for _ in range(2):
            await client.new_game(1, 1)
        assert (await timed(client.ask("wait", game_ids=[2, 1])))[1] == 0
        reply, seconds = await timed(client.ask("wait", game_ids=[1, 2], seat="black"))
        assert (reply, seconds) == ({"state": None, "error": None}, 60)
        await client.ask("move", game_id=2, move="e4")
        reply, seconds = await timed(client.ask("wait", game_ids=[1, 2], seat="black"))
        assert (reply["game_id"], seconds) == (2, 0)


WRONG: list[tuple[Json, str, str]] = [
    ({}, "bad_request", "game_id: wait takes exactly one of game_id, game_ids and any"),
    ({"game_id": 1, "any": True}, "bad_request", "game_id: wait takes exactly one of game_id, game_ids and any"),
    ({"game_ids": []}, "bad_request", "game_ids: 0 games are not between 1 and 100"),
    ({"game_ids": [1] * 101}, "bad_request", "game_ids: 101 games are not between 1 and 100"),
    ({"any": True, "except": [1] * 101}, "bad_request", "except: 101 games are more than 100"),
    ({"game_ids": [1], "seat": "white"}, "not_a_player", "seat: player 2 does not hold white's seat in game 1"),
    (
        {"any": True, "seat": "white"},
        "bad_request",
        "seat: 'white' goes with game_id or game_ids, not with any",
    ),
    (
        {"game_id": 1, "ply": 0},
        "bad_request",
        "ply: 0 is for spectators; a player's wait ends at its turn",
    ),
    *(
        (
            {"player": None, **fields},
            "bad_request",
            "player: wait needs one, or, to follow a game without a seat, game_id and ply",
        )
        for fields in ({"game_id": 1}, {"any": True}, {"any": True, "ply": 0})
    ),
    (
        {"player": None, "game_ids": [1], "ply": 0},
        "bad_request",
        "ply: 0 applies to one game; send it with game_id",
    ),
    ({"player": None, "game_ids": [1, 7]}, "no_such_game", "game_id: there is no game 7"),
    ({"game_id": 1, "timeout": -1}, "bad_request", "timeout: -1: expected `float` >= 0.0"),
    ({"game_id": 7}, "no_such_game", "game_id: there is no game 7"),
    ({"game_ids": [1, 7]}, "no_such_game", "game_id: there is no game 7"),
    ({"player": 3, "game_id": 1}, "not_a_player", "player: 3 has no seat in game 1"),
    ({"game_id": 1, "seat": "white"}, "not_a_player", "seat: player 2 does not hold white's seat in game 1"),
]


async def test_contradicting_fields_are_refused(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        for fields, code, error in WRONG:
            assert await black.ask("wait", **fields) == {"code": code, "error": error}
        assert trio.current_time() == 0


class BrokenLog(MemoryLog):
    """Log that can fail: it then accepts no append and finds no game."""

    broken = False

    def append(self, *arguments: Any, **keywords: Any) -> Any:
        if self.broken:
            raise OSError("disk full")
        return super().append(*arguments, **keywords)

    async def load(self, game_id: int) -> list[AnyEvent]:
        if self.broken:
            raise Internal("the event log cannot be read")
        return await super().load(game_id)


async def test_failure_of_the_log_during_a_wait_is_reported(autojump_clock: MockClock) -> None:
    log = BrokenLog()
    async with memory_daemon(log) as daemon:
        white, black = await pair(daemon)
        await white.new_game()
        await white.new_game()

        async def lose_the_first_game() -> None:
            log.broken = True
            with structlog.testing.capture_logs():
                assert (await white.ask("move", game_id=1, move="e4"))["code"] == "internal"
            daemon.arbiter.watchers.notify(2, [])

        reply, seconds = await meanwhile(black, lose_the_first_game, game_ids=[1, 2])
        assert (reply["code"], reply["error"], seconds) == ("internal", "the event log cannot be read", 10)
