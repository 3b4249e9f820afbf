"""``work`` as requests: who may take part in a match, what is refused, and how much."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

import gmd.matches.book as book
from gm_protocol.errors import BadRequest, TooMany
from gmd.contests.contest import Owner
from gmd.event_log.interface import LogFailed
from gmd.in_process import Refused
from gmd.matches.book import Matches
from gmd.matches.claim import Claim, difference
from gmd.matches.limits import MAX_MATCHES, MAX_OF_PLAYER, Kept, superfluous
from gmd.matches.memory import MemoryMatches
from gmd.matches.sql import SqlMatches
from gmd.matches.store import MatchesNotWritten
from tests.helpers import connected, running_daemon

TOKEN, WORKER, PEER = "0123456789abcdef", "fedcba9876543210", "192.0.2.1:5000"
CLAIM: dict[str, Any] = {"worker": WORKER, "arguments": ["seed=1"], "games": 4}


def asking(**claim: Any) -> dict[str, Any]:
    return {"token": TOKEN, "claim": CLAIM | claim}


async def test_worker_takes_games_and_reports_them() -> None:
    async with running_daemon() as daemon:
        reply = await daemon.ask("work", **asking(want=2))
        nothing = {"counted": [], "results": [], "over": 0, "decided": None}
        assert reply == {"share": {"hold": [1, 2], "workers": 1, **nothing}, "error": None}
        over = [
            {"number": 1, "result": "1-0", "game_id": 7, "detail": "short"},
            {"number": 2, "result": "0-1", "game_id": None, "detail": ""},
        ]
        reply = await daemon.ask("work", **asking(played=[over[0], {"number": 2, "result": "0-1"}], decided=2))
        share = reply["share"]
        assert (share["hold"], share["counted"], share["results"], share["decided"]) == ([], [1, 2], over, 2)


async def test_restart_of_the_server_keeps_the_match(tmp_path: Any) -> None:
    async with running_daemon(data=str(tmp_path)) as daemon:
        await daemon.ask("work", **asking(want=2))
        await daemon.ask("work", **asking(want=2, played=[{"number": 1, "result": "1-0"}]))
    async with running_daemon(data=str(tmp_path)) as daemon:
        share = (await daemon.ask("work", **asking(want=1)))["share"]
        assert share["hold"] == [2, 3]
        assert [(game["number"], game["result"]) for game in share["results"]] == [(1, "1-0")]


async def test_each_owner_has_matches_of_its_own() -> None:
    async with running_daemon() as daemon:
        ada = await daemon.ask("register", name="ada")
        who = {"player": ada["player"], "key": ada["key"]}
        assert (await daemon.ask("work", **who, **asking(want=1)))["share"]["hold"] == [1]
        assert (await daemon.ask("work", **asking(want=1)))["share"]["hold"] == [1]
        assert (await daemon.ask_as_operator("work", **asking(want=1)))["share"]["hold"] == [1]
        other = asking(worker="x" * 16, want=1)
        assert (await daemon.ask("work", **who, **other))["share"]["hold"] == [2]


async def test_work_as_another_player_or_as_nobody_is_unauthorized() -> None:
    async with running_daemon(require_registration=True) as daemon:
        ada = await daemon.ask("register", name="ada")
        for who in ({}, {"player": ada["player"], "key": "x" * 43}):
            with pytest.raises(Refused) as caught:
                await daemon.ask("work", **who, **asking())
            assert caught.value.code == "unauthorized"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"worker": "short"}, "worker"),
        ({"worker": "two lines\nof a worker"}, "worker"),
        ({"arguments": ["a\0b"]}, "arguments"),
        ({"games": 0}, "games"),
        ({"games": 100_001}, "games"),
        ({"want": 101}, "want"),
        ({"lease": 0.5}, "lease"),
        ({"after": 5}, "after: game 5 is beyond the 4 games of the match"),
        ({"decided": 5}, "decided: game 5"),
        ({"played": [{"number": 5, "result": "1-0"}]}, "played: game 5"),
        ({"played": [{"number": 1, "result": "1-0"}] * 2}, "played: two games have the same number"),
        ({"played": [{"number": 1, "result": "*"}]}, "played"),
        ({"played": [{"number": 1, "result": "1-0", "detail": "x" * 201}]}, "played"),
    ],
)
async def test_request_without_a_meaning_is_refused(fields: dict[str, Any], named: str) -> None:
    async with running_daemon() as daemon, connected(daemon) as client:
        reply = await client.ask("work", **asking(**fields))
        assert reply["code"] == "bad_request"
        assert named in reply["error"]


async def test_worker_with_other_arguments_is_refused() -> None:
    async with running_daemon() as daemon:
        await daemon.ask("work", **asking())
        with pytest.raises(Refused) as caught:
            await daemon.ask("work", **asking(arguments=["seed=2"]))
        assert caught.value.code == "bad_request"
        assert "claim: seed is 1 in this match, not 2: give all workers the same" in str(caught.value)


def claim(token: int = 0, worker: str = "one") -> Claim:
    return Claim(Owner(), bytes([token]) * 32, worker, ["seed=1"], 4)


async def test_address_begins_so_many_matches_and_works_on_as_many_as_it_likes(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "BEGUN_PER_HOUR", 2)
    matches = Matches(MemoryMatches())
    for token in (0, 1):
        await matches.work(claim(token), PEER)
    with pytest.raises(TooMany, match="work: 2 matches from this address are used up"):
        await matches.work(claim(2), PEER)
    await matches.work(claim(1, "another"), PEER)
    await matches.work(claim(2), "")
    await trio.sleep(3_600)
    await matches.work(claim(3), PEER)


async def test_match_takes_so_many_requests_a_minute(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "REQUESTS_PER_MINUTE", 3)
    matches = Matches(MemoryMatches())
    for worker in ("one", "two", "one"):
        await matches.work(claim(0, worker), PEER)
    with pytest.raises(TooMany, match="requests from this match are used up"):
        await matches.work(claim(0, "three"), "192.0.2.9:1")
    await matches.work(claim(1), PEER)


class FailingDatabase:
    """A database whose disk is full."""

    async def read(self, work: Any) -> Any:
        raise LogFailed("the database cannot be read")

    async def write(self, work: Any) -> Any:
        raise LogFailed("the database cannot be written; nothing was done")


async def test_failing_database_is_an_internal_error_that_a_worker_overcomes() -> None:
    with pytest.raises(MatchesNotWritten, match="nothing was done; send it again") as caught:
        await Matches(SqlMatches(FailingDatabase())).work(claim(), PEER)
    assert caught.value.code == "internal"


async def test_refused_arguments_name_no_others() -> None:
    matches = Matches(MemoryMatches())
    await matches.work(claim(), PEER)
    with pytest.raises(BadRequest, match="planned is 4 in this match, not 5"):
        await matches.work(Claim(Owner(), bytes(32), "one", ["seed=1"], 5), PEER)


def test_differences_of_arguments_are_found() -> None:
    assert difference(["a=1", "b=2"], ["a=1", "b=2"]) is None
    assert difference(["a=1", "b=2"], ["b=2", "a=1"]) == "the arguments of this match have another order"
    assert difference(["a=1"], ["a=1", "b="]) == 'b is not given in this match, not ""'


def test_stalest_match_of_the_owner_with_the_most_makes_room() -> None:
    players = [Owner(2**52 + number) for number in range(MAX_MATCHES)]
    kept = [Kept(number, players[number % 20], float(number)) for number in range(MAX_MATCHES - 1)]
    assert superfluous(kept, players[50]) == []
    kept += [Kept(1_000, players[7], 1_000.0)]
    assert superfluous(kept, players[50]) == [7]
    mine = [Kept(number, players[0], -float(number)) for number in range(MAX_OF_PLAYER)]
    assert superfluous(mine, players[0]) == [MAX_OF_PLAYER - 1]
