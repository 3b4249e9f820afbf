"""A player whose time is up only draws if the opponent cannot mate (FIDE 6.9), where mate is what wins."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from gmd.games.commands import RunOut
from tests.handlers.test_clocks import TEN_SECONDS, begun
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon

PAWN = "4k3/8/8/8/8/8/4P3/4K3"
#: The variant, a position, and whether the game is drawn if White's time is up and if Black's is.
CASES = [
    ("standard", "4k3/8/8/8/8/8/8/4K3", True, True),
    ("standard", PAWN, True, False),
    ("standard", "4k3/4p3/8/8/8/8/8/4K3", False, True),
    ("standard", "4k1n1/8/8/8/8/8/8/Q3K3", True, False),
    ("standard", "4k1n1/8/8/8/8/8/8/R3K3", False, False),
    ("standard", "4kb2/8/8/8/8/8/8/2B1K3", True, True),
    ("standard", "4kb2/8/8/8/8/8/8/4KB2", False, False),
    ("standard", "1n2k1n1/8/8/8/8/8/8/4K3", False, True),
    ("chess960", PAWN, True, False),
    ("crazyhouse", f"{PAWN}[]", False, False),
    ("crazyhouse", "4k3/8/8/8/8/8/8/4K1N1[]", True, True),
    ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[Q]", False, False),
    ("rbc", PAWN, False, False),
    ("dark_chess", PAWN, False, False),
]


async def ended(client: Client) -> Json:
    state: Json = (await client.ask("state", game_id=1, player=None))["state"]
    assert state["phase"] == "over"
    return state


def on_time(loser: str, drawn: bool) -> tuple[str, str]:
    """Return the termination and the result."""
    return ("draw_timeout", "1/2-1/2") if drawn else (f"timeout_{loser}", "0-1" if loser == "white" else "1-0")


@pytest.mark.parametrize(("variant", "board", "white_draws", "black_draws"), CASES)
async def test_fallen_flag_draws_where_the_opponent_cannot_mate(
    variant: str, board: str, white_draws: bool, black_draws: bool, autojump_clock: MockClock
) -> None:
    for loser, drawn in (("white", white_draws), ("black", black_draws)):
        async with memory_daemon() as daemon:
            white, _ = await begun(daemon, variant=variant, fen=f"{board} {loser[0]} - - 0 1", clock=TEN_SECONDS)
            await trio.sleep(11)
            state = await ended(white)
            assert (state["termination"], state["result"]) == on_time(loser, drawn)
            other = "black" if loser == "white" else "white"
            assert state["clock"] == {loser: 0.0, other: 10.0}


async def absent(daemon: MemoryDaemon) -> Client:
    """Begin a game in which White makes no contact."""
    black = await daemon.connect(player=2)
    await black.new_game(fen=f"{PAWN} b - - 0 1", clock=TEN_SECONDS)
    await black.ask("state", game_id=1)
    await trio.sleep(daemon.services.limits.start_seconds + 1)
    return black


async def failed(daemon: MemoryDaemon) -> Client:
    """Begin a game in which White, which is not to move, gives up its time."""
    white, _ = await begun(daemon, fen=f"{PAWN} b - - 0 1", clock=TEN_SECONDS)
    daemon.arbiter.act(await daemon.arbiter.live_game(1), RunOut(seat=True), trio.current_time())
    return white


@pytest.mark.parametrize("begin", [absent, failed])
async def test_seat_without_time_draws_in_every_way_where_the_opponent_cannot_mate(
    begin: object, autojump_clock: MockClock
) -> None:
    async with memory_daemon() as daemon:
        client = await (absent if begin is absent else failed)(daemon)
        state = await ended(client)
        assert (state["termination"], state["result"]) == ("draw_timeout", "1/2-1/2")


async def test_draw_on_time_is_in_the_history_and_refuses_moves(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await begun(daemon, fen=f"{PAWN} w - - 0 1", clock=TEN_SECONDS)
        await trio.sleep(10.5)
        reply = await white.ask("move", game_id=1, move="e4")
        assert reply == {"state": None, "code": "game_over", "error": "game 1 is over: draw_timeout"}
        pgn = (await white.ask("history", game_id=1))["pgn"]
        for tag in ('Result "1/2-1/2"', 'Termination "time forfeit"', 'GmdTermination "draw_timeout"'):
            assert f"[{tag}]\n" in pgn


async def test_version_1_session_is_shown_a_draw_that_its_clients_know(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, _ = await begun(daemon, fen=f"{PAWN} w - - 0 1", clock=TEN_SECONDS)
        old = [await daemon.connect(hello=False) for _ in range(12)]
        for client in old:  # so many that they share a view
            await client.send({"kind": "wait", "game_id": 1, "ply": 0})
        await trio.sleep(11)
        assert (await ended(white))["termination"] == "draw_timeout"
        for client in old:
            state = (await client.receive())["state"]
            assert (state["termination"], state["result"]) == ("stalemate", "1/2-1/2")
        (row,) = (await (await daemon.connect(hello=False)).ask("games"))["games"]
        assert (row["termination"], row["result"]) == ("stalemate", "1/2-1/2")
