"""Matches of several machines where several daemons share a database: workers at any daemon, which may be killed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio

from gmd.cluster.shards import LOBBY
from tests.arena.matches import PATIENCE as MATCH_PATIENCE
from tests.arena.matches import TWO, command, games, summary
from tests.cluster.test_daemons import Daemons, ask_until_done
from tests.serving import environment

TOKEN = "0123456789abcdef"


@pytest.fixture
def daemons(database_url: str, tmp_path: Path) -> Iterator[Daemons]:
    with ExitStack() as stack:
        yield Daemons(database_url, tmp_path, stack)


def claim(worker: str, **fields: Any) -> dict[str, Any]:
    return {"worker": worker.ljust(16, "-"), "arguments": ["bots=a b"], "games": 9, **fields}


def over(*numbers: int) -> list[dict[str, Any]]:
    return [{"number": number, "result": "1-0", "detail": f"of {number}"} for number in numbers]


async def test_match_goes_on_after_the_owner_of_the_lobby_is_killed(daemons: Daemons) -> None:
    running = [daemons.start(), daemons.start()]
    await daemons.until(*running)
    async with running[0].client() as first, running[1].client() as second:
        one = await ask_until_done(first, "work", token=TOKEN, claim=claim("one", want=3))
        two = await ask_until_done(second, "work", token=TOKEN, claim=claim("two", want=3))
        assert (one["share"]["hold"], two["share"]["hold"]) == ([1, 2, 3], [4, 5, 6])
        one = await ask_until_done(first, "work", token=TOKEN, claim=claim("one", want=3, played=over(1, 3)))
        assert one["share"]["hold"] == [2, 7, 8]
    lobby = daemons.owners()[LOBBY]
    (dead,) = (daemon for daemon in running if daemon.port == lobby)
    (alive,) = (daemon for daemon in running if daemon.port != lobby)
    dead.process.kill()
    await daemons.until(alive)
    async with alive.client() as client:
        for name, numbers in (("one", (2, 7, 8)), ("two", (4, 5, 6))):
            request = claim(name, played=over(*numbers))
            for _ in range(2):  # the reply to the first one may be lost
                reply = await ask_until_done(client, "work", token=TOKEN, claim=request)
                assert tuple(reply["share"]["counted"]) == numbers
        reply = await ask_until_done(client, "work", token=TOKEN, claim=claim("one", want=3, after=1))
        assert [game["number"] for game in reply["share"]["results"]] == list(range(2, 9))
        assert reply["share"]["hold"] == [9]
    assert alive.stop(signal.SIGTERM) == 0


@pytest.mark.long
async def test_machines_at_different_daemons_find_one_verdict(daemons: Daemons, tmp_path: Path) -> None:
    running = [daemons.start(), daemons.start()]
    await daemons.until(*running)
    match = (*TWO, "--variant", "standard", "--max-moves", 12, "--games", 12)
    records = [tmp_path / f"{number}.jsonl" for number in range(2)]
    with trio.fail_after(MATCH_PATIENCE):
        async with trio.open_nursery() as machines:
            for daemon, record in zip(running, records, strict=True):
                where = ("--server", f"127.0.0.1:{daemon.port}", "--join", "spring", "--json-out", record)
                run = partial(trio.run_process, command(*match, *where), env=environment(), capture_stdout=True)
                machines.start_soon(run)
    (verdict,) = {summary(record)["verdict"] for record in records}
    assert "one scored 50.0 % in 12 games" in verdict
    assert sorted(game["game"] for record in records for game in games(record)) == list(range(1, 13))
    with psycopg.connect(daemons.url) as connection:
        rows = connection.execute("SELECT number, result FROM match_games ORDER BY number").fetchall()
    assert [number for number, result in rows if result is not None] == list(range(1, 13))
    for daemon in running:
        assert daemon.stop(signal.SIGTERM) == 0
