"""A large request yields to everybody else's. Nothing here is timed: what is counted is who gets a turn, and when."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from tests.helpers import Client, Json, connected, memory_daemon, running_daemon

MEBIBYTE = 1 << 20
#: Room for a text of a mebibyte, also where JSON escapes every other byte of it.
MAX_MESSAGE = 2 * MEBIBYTE
#: How often somebody else must get a turn at the least while such a text is read: every few milliseconds.
TURNS = 50

#: Requests that arrive in one piece.
PIPELINED = 1_000


def filled(text: str, size: int = MEBIBYTE) -> str:
    """``text`` again and again."""
    return text * (size // len(text))


SHUFFLE = "Nf3 Nf6 Ng1 Ng8 "
DEPTH = 100_000

#: Texts of one mebibyte: a quarter of a million plies, and what a reader passes over.
LARGE = {
    "plies": filled(SHUFFLE),
    "numbered plies": filled("1. Nf3 Nf6 2. Ng1 Ng8 "),
    "nested variations": "1. e4 " + "(" * DEPTH + filled("1. d4 ", MEBIBYTE - 3 * DEPTH) + ")" * DEPTH,
    "variations": "1. e4 " + filled("(1. d4 (1. c4)) "),
    "comments": filled("{} ") + "1. e4",
    "line comments": filled(";\n") + "1. e4",
    "annotations": "1. e4 " + filled("$1 "),
    "marks": "1. e4 " + filled("! "),
    "numbers": filled("1. ") + "e4",
    "dots": filled(". ") + "e4",
    "headers": filled('[A "b"]\n') + "1. e4",
}
#: As large, and refused.
REFUSED = {
    "open variations": "1. e4 " + filled("("),
    "games": filled("e4 * "),
}


def request(pgn: str) -> Json:
    return {"kind": "game_from_pgn", "player_white": 1, "player_black": 2, "pgn": pgn, "brief": True}


async def ping_until(client: Client, done: trio.Event) -> int:
    """How many pings are answered, one after the other, until ``done``."""
    answered = 0
    while not done.is_set():
        assert await client.ask("ping") == {"error": None}
        answered += 1
    return answered


async def pings_during(pgn: str) -> tuple[Json, int]:
    """The reply to a PGN, and how many pings on another connection were answered before it."""
    async with memory_daemon(max_message=MAX_MESSAGE) as daemon:
        loader, other = await daemon.connect(), await daemon.connect()
        done = trio.Event()
        replies: list[Any] = []

        async def load() -> None:
            replies.append(await loader.ask(**request(pgn)))
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(load)
            answered = await ping_until(other, done)
        return replies[0], answered


@pytest.mark.parametrize("name", LARGE)
async def test_reading_a_large_pgn_lets_others_in_between(name: str) -> None:
    reply, answered = await pings_during(LARGE[name])
    assert reply["error"] is None
    assert reply["state"]["ply_index"] == (12_000 if "plies" in name else 1)
    assert answered >= TURNS


@pytest.mark.parametrize("name", REFUSED)
async def test_refusing_one_does_too(name: str) -> None:
    reply, answered = await pings_during(REFUSED[name])
    assert reply["code"] == "bad_pgn"
    assert answered >= TURNS


async def test_a_ping_sent_behind_a_large_pgn_is_answered_before_it() -> None:
    async with (
        running_daemon(max_message=MAX_MESSAGE) as daemon,
        connected(daemon) as loader,
        connected(daemon) as other,
    ):
        await loader.send(request(LARGE["plies"]))
        order = []
        async with trio.open_nursery() as nursery:

            async def receive(client: Client, name: str) -> None:
                assert (await client.receive())["error"] is None
                order.append(name)

            nursery.start_soon(receive, loader, "pgn")
            await other.send({"kind": "ping"})
            nursery.start_soon(receive, other, "ping")
        assert order == ["ping", "pgn"]


async def test_a_long_pipeline_lets_others_in_between() -> None:
    async with memory_daemon() as daemon:
        greedy, other = await daemon.connect(), await daemon.connect()
        await greedy.send(*({"kind": "ping", "id": number} for number in range(PIPELINED)))
        assert await other.ask("ping") == {"error": None}
        answered = (await greedy.stream.receive_some(MEBIBYTE)).count(b'"id"')
        assert 0 < answered < PIPELINED // 4
        await greedy.end()
        rest = b""
        while data := await greedy.stream.receive_some(MEBIBYTE):
            rest += data
        assert answered + rest.count(b'"id"') == PIPELINED
