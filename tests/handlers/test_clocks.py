"""Clocks run without requests, measured in milliseconds of the jumping clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gm_protocol.framing import encode_frame
from gmd.config import Config
from gmd.daemon import authenticator_of, lobby_of, ranked_of, services_of
from gmd.event_log.memory import MemoryLog
from gmd.net.metrics import Metrics
from gmd.play.arbiter import Arbiter
from gmd.tcp.listener import SessionServer
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon

TEN_SECONDS: Json = {"initial": 10, "increment": 0}


async def begun(daemon: MemoryDaemon, **options: Any) -> tuple[Client, Client]:
    """Return sessions of both players of game 1, whose clocks have just started."""
    white, black = await daemon.connect(player=1), await daemon.connect(player=2)
    await white.new_game(**options)
    for client in (white, black):
        assert (await client.ask("state", game_id=1))["error"] is None
    return white, black


async def clock_of(client: Client, game_id: int = 1) -> tuple[float, float]:
    """Return White's and Black's seconds as a spectator sees them."""
    clock = (await client.ask("state", game_id=game_id, player=None))["state"]["clock"]
    return clock["white"], clock["black"]


async def test_clocks_start_after_first_contact_of_both_players(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        reply = await white.new_game(clock=TEN_SECONDS)
        assert reply["state"]["clock"] == {"white": 10.0, "black": 10.0}
        await trio.sleep(100)
        await white.ask("state", game_id=1)
        await trio.sleep(100)
        assert await clock_of(white) == (10, 10)
        await black.ask("state", game_id=1)
        await trio.sleep(4)
        assert await clock_of(white) == (6, 10)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("state", {}),
        ("wait", {"timeout": 0}),
        ("wait", {"timeout": 0, "game_id": None, "game_ids": [1]}),
        ("actions", {}),
        ("belief", {}),
        ("history", {}),
        ("move", {"move": "e5"}),
        ("move", {"move": "e5", "ply": 7}),
        ("move", {"move": None}),
        ("sense", {"square": "z9"}),
        ("end_game", {"termination": "draw_agreed"}),
        ("join", {}),
        ("accept", {}),
        ("decline", {}),
    ],
    ids=str,
)
async def test_any_request_of_a_player_for_the_game_is_first_contact(
    kind: str, fields: Json, autojump_clock: MockClock
) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game(clock=TEN_SECONDS)
        await white.ask("state", game_id=1)
        await black.ask(kind, **{"game_id": 1, **fields})
        await trio.sleep(4)
        assert await clock_of(white) == (6, 10)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("state", {"player": None}),
        ("state", {"player": 3}),
        ("games", {}),
        ("ping", {}),
        ("actions", {"player": 3}),
        ("belief", {"player": 3}),
        ("wait", {"timeout": 0, "game_id": None, "any": True}),
        ("wait", {"timeout": 0, "game_id": None, "game_ids": [1, 99]}),
        ("wait", {"timeout": 0, "seat": "white"}),
        ("move", {"move": 5}),
        ("move", {"move": "e5", "player": 2**52}),
    ],
    ids=str,
)
async def test_request_by_another_player_or_malformed_or_for_no_game_is_no_first_contact(
    kind: str, fields: Json, autojump_clock: MockClock
) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game(clock=TEN_SECONDS)
        await white.ask("state", game_id=1)
        await black.ask(kind, **{"game_id": 1, **fields})
        await trio.sleep(4)
        assert await clock_of(white) == (10, 10)


async def test_moves_before_the_clocks_start_cost_no_time(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game(clock={"initial": 10, "increment": 3})
        await trio.sleep(100)
        assert (await white.ask("move", game_id=1, move="e4"))["state"]["clock"] == {"white": 13.0, "black": 10.0}
        await trio.sleep(100)
        assert (await black.ask("state", game_id=1))["state"]["clock"] == {"white": 13.0, "black": 10.0}
        await trio.sleep(2)
        assert await clock_of(white) == (13, 8)  # the clock of the side to move runs first


async def test_player_is_charged_from_the_previous_move_to_its_own(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await begun(daemon, clock={"initial": 60, "increment": 2.5})
        await trio.sleep(4.25)
        assert (await white.ask("move", game_id=1, move="e4"))["state"]["clock"] == {"white": 58.25, "black": 60.0}
        await trio.sleep(10)
        assert (await black.ask("move", game_id=1, move="e5"))["state"]["clock"] == {"white": 58.25, "black": 52.5}
        await trio.sleep(0.001)
        assert (await white.ask("move", game_id=1, move="Nf3"))["state"]["clock"] == {"white": 60.749, "black": 52.5}
        await trio.sleep(0.5)
        assert await clock_of(white) == (60.749, 52)


WITH_LAG: Json = {"initial": 10, "lag": 2}


@pytest.mark.parametrize(("thought", "left"), [(1.5, 8), (None, 6)])
async def test_time_not_thought_is_not_charged_up_to_the_lag(
    thought: float | None, left: float, autojump_clock: MockClock
) -> None:
    async with memory_daemon() as daemon:
        white, black = await begun(daemon, clock=WITH_LAG)
        await trio.sleep(4)
        said = {} if thought is None else {"thought": thought}
        reply = await white.ask("move", game_id=1, move="e4", **said)
        assert reply["state"]["clock"] == {"white": left, "black": 10.0}
        await trio.sleep(1)
        reply = await black.ask("end_game", game_id=1, termination="resignation_black", thought=0)
        assert reply["state"]["clock"] == {"white": left, "black": 10.0}


async def test_deadline_fires_after_the_lag_has_passed(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        _, black = await begun(daemon, clock=WITH_LAG)
        began = trio.current_time()
        reply = await black.ask("wait", game_id=1)
        assert reply["state"]["termination"] == "timeout_white"
        assert trio.current_time() - began == pytest.approx(12)


@pytest.mark.parametrize("color", ["white", "black"])
async def test_player_out_of_time_loses_and_all_waits_end(color: str, autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await begun(daemon, clock={"initial": 10, "increment": 0})
        spectator = await daemon.connect()
        if color == "black":
            await white.play(1, "e4")
        start = trio.current_time()
        rests, ply = (white, 1) if color == "black" else (black, 0)
        await rests.send({"kind": "wait", "game_id": 1})
        await spectator.send({"kind": "wait", "game_id": 1, "ply": ply})
        for client in (rests, spectator):
            state = (await client.receive())["state"]
            assert state["termination"] == f"timeout_{color}"
            assert state["result"] == ("1-0" if color == "black" else "0-1")
            assert state["clock"][color] == 0
            assert trio.current_time() - start == pytest.approx(10)


async def test_time_runs_out_without_any_request(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await begun(daemon, clock=TEN_SECONDS)
        await trio.sleep(11)
        (row,) = (await white.ask("games"))["games"]  # the listing looks at no clock
        assert (row["status"], row["termination"]) == ("over", "timeout_white")


async def test_move_after_flag_fall_is_refused_and_game_ends_on_time(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await begun(daemon, clock=TEN_SECONDS)
        await trio.sleep(10.5)
        reply = await white.ask("move", game_id=1, move="e4")
        assert reply == {"state": None, "code": "game_over", "error": "game 1 is over: timeout_white"}
        state = (await white.ask("state", game_id=1))["state"]
        assert (state["ply_index"], state["termination"], state["clock"]) == (
            0,
            "timeout_white",
            {"white": 0.0, "black": 10.0},
        )


async def test_flag_fall_is_judged_by_the_arrival_of_the_last_byte(autojump_clock: MockClock) -> None:
    move = encode_frame(b'{"kind":"move","game_id":1,"move":"e4"}')
    for late, code in ((9.9, None), (10.1, "game_over")):
        async with memory_daemon() as daemon:
            white, _ = await begun(daemon, clock=TEN_SECONDS)
            await white.send_bytes(move[:-1])
            await trio.sleep(late)
            await white.send_bytes(move[-1:])
            assert (await white.receive()).get("code") == code


async def test_move_pipelined_after_a_wait_is_charged_up_to_its_arrival(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await begun(daemon, clock=TEN_SECONDS)
        await white.send({"kind": "wait", "any": True, "except": [1]})
        await trio.sleep(3)
        await white.send({"kind": "move", "game_id": 1, "move": "e4"})
        await trio.sleep(3)
        assert await white.receive() == {"state": None, "error": None}
        assert (await white.receive())["state"]["clock"] == {"white": 7.0, "black": 10.0}


@asynccontextmanager
async def daemon_without_deadlines() -> AsyncIterator[MemoryDaemon]:
    """Yield a daemon whose deadlines never fire."""
    config = Config(data=":memory:")
    log = MemoryLog()
    arbiter, authenticator = Arbiter(log, config.start_timeout, config.idle_games), authenticator_of(config, log)
    async with trio.open_nursery() as nursery:
        lobby = lobby_of(config, arbiter, authenticator, local=True)
        services = services_of(
            config,
            arbiter,
            authenticator,
            lobby,
            ranked_of(config, arbiter, authenticator, lobby),
            Metrics(),
            local=True,
        )
        yield MemoryDaemon(services, SessionServer(services), nursery)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("kind", "fields", "shows"),
    [
        ("state", {}, "termination"),
        ("state", {"player": None}, "termination"),
        ("wait", {"timeout": 0}, "termination"),
        ("wait", {"timeout": 0, "player": None, "ply": 5}, "termination"),
        ("move", {"move": "e4"}, "game_over"),
        ("end_game", {"termination": "resignation_black", "player": 2}, "game_over"),
        ("history", {}, "pgn"),
        ("actions", {}, "move_actions"),
    ],
    ids=str,
)
async def test_request_after_flag_fall_finds_the_game_over_before_the_deadline_fires(
    kind: str, fields: Json, shows: str, autojump_clock: MockClock
) -> None:
    async with daemon_without_deadlines() as daemon:
        white, _ = await begun(daemon, clock=TEN_SECONDS)
        await trio.sleep(10)
        reply = await white.ask(kind, **{"game_id": 1, **fields})
        if shows == "termination":
            assert reply["state"]["termination"] == "timeout_white"
        elif shows == "game_over":
            assert (reply["code"], reply["error"]) == ("game_over", "game 1 is over: timeout_white")
        elif shows == "pgn":
            assert '[GmdTermination "timeout_white"]' in reply["pgn"]
        else:
            assert reply["move_actions"] is None


async def test_refused_move_of_a_stranger_leaves_the_flag_to_the_next_request(autojump_clock: MockClock) -> None:
    async with daemon_without_deadlines() as daemon:
        white, _ = await begun(daemon, clock=TEN_SECONDS)
        await trio.sleep(10)
        assert (await white.ask("move", game_id=1, move="e4", player=3))["code"] == "not_a_player"
        assert (await white.ask("state", game_id=1))["state"]["termination"] == "timeout_white"


async def test_seat_without_first_contact_in_time_loses(autojump_clock: MockClock) -> None:
    async with memory_daemon(start_timeout=30) as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        contacted: list[tuple[list[Client], str]] = [
            ([white], "timeout_black"),
            ([black], "timeout_white"),
            ([], "timeout_white"),
        ]
        for game_id, (clients, termination) in enumerate(contacted, 1):
            start = trio.current_time()
            await white.new_game(clock={"initial": 1000})
            for client in clients:
                await client.ask("state", game_id=game_id)
            spectator = await daemon.connect()
            state = (await spectator.ask("wait", game_id=game_id, ply=0))["state"]
            assert state["termination"] == termination
            assert trio.current_time() - start == pytest.approx(30)


async def test_side_to_move_loses_if_neither_player_makes_contact(autojump_clock: MockClock) -> None:
    async with memory_daemon(start_timeout=30) as daemon:
        spectator = await daemon.connect()
        await spectator.new_game(clock=TEN_SECONDS, pgn="1. e4")
        state = (await spectator.ask("wait", game_id=1, ply=1))["state"]
        assert state["termination"] == "timeout_black"
        assert trio.current_time() == pytest.approx(30)


async def test_game_without_a_clock_never_times_out(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white = await daemon.connect(player=1)
        assert (await white.new_game())["state"]["clock"] is None
        await trio.sleep(3_000)
        await white.ask("state", game_id=1)
        await trio.sleep(3_000)
        state = (await white.ask("state", game_id=1))["state"]
        assert (state["phase"], state["clock"]) == ("move", None)


async def test_each_of_many_games_has_its_own_clocks(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        for number in range(1, 11):
            await white.new_game(clock={"initial": number, "increment": 0})
            for client in (white, black):
                await client.ask("state", game_id=number, brief=True)
        start = trio.current_time()
        spectator = await daemon.connect()
        for number in range(1, 11):
            state = (await spectator.ask("wait", game_id=number, ply=0, brief=True))["state"]
            assert state["termination"] == "timeout_white"
            assert trio.current_time() - start == pytest.approx(number)


@pytest.mark.parametrize(
    ("clock", "error"),
    [
        ({"initial": -1}, "clock.initial: "),
        ({"first_move": 5}, "clock: give "),
        (5, "clock: 5 is no time control: give "),
    ],
    ids=str,
)
async def test_invalid_clock_is_refused(client: Client, clock: Any, error: str) -> None:
    reply = await client.ask("new_game", player_white=1, player_black=2, clock=clock)
    assert (reply["code"], reply["error"][: len(error)]) == ("bad_request", error)
    assert (await client.ask("games"))["games"] == []


@pytest.mark.parametrize("variant", ["standard", "rbc"])
async def test_clock_may_be_written_as_text(client: Client, variant: str) -> None:
    for text, option in {
        "180+2": {"initial": 180.0, "increment": 2.0},
        "60": {"initial": 60.0, "increment": 0.0},
        "1/0.05": {"first_move": 1.0, "per_move": 0.05},
    }.items():
        made = await client.ask("new_game", player_white=1, player_black=2, variant=variant, clock=text)
        assert made["options"]["clock"] == option
    refused = await client.ask("new_game", player_white=1, player_black=2, variant=variant, clock="fast")
    assert (refused["code"], refused["error"]) == (
        "bad_request",
        "clock: 'fast' is no clock: write seconds, such as 300, 180+2, 1/0.05 (the seconds for the first and each "
        "later move), or null to play without",
    )
    refused = await client.ask("new_game", player_white=1, player_black=2, variant=variant, clock="0+2")
    assert refused["error"] == "clock.initial: 0.0 is not from more than 0 to 10000000 seconds"


async def test_seeks_with_the_same_clock_match_however_it_is_written() -> None:
    async with memory_daemon() as daemon:
        clients = []
        for name in ("ann", "ben"):
            client = await daemon.connect()
            account = await client.ask("register", name=name)
            await client.ask("hello", player=account["player"], key=account["key"])
            clients.append(client)
        await clients[0].ask("seek", clock="180+2")
        found = await clients[1].ask("seek", clock={"initial": 180, "increment": 2})
        assert found["game_id"] == 1
