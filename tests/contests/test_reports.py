"""Reports of contests: who may send them, what is refused, how many are kept, and what a restart keeps."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

import gmd.lobby.contests as book
from gm_client.blocking import connect
from gm_protocol.contests import MAX_REPORT, ContestReport
from gm_protocol.errors import BadRequest, TooMany
from gmd.daemon import Daemon
from gmd.event_log.interface import LogFailed
from gmd.handlers.in_process import Refused
from gmd.lobby.contest_sql import SqlContests
from gmd.lobby.contests import Contest, Contests, MemoryContests, Owner
from tests.helpers import connected, running_daemon, running_log, store_in
from tests.serving import served

TOKEN = "0123456789abcdef"
ADA, BEA, OPEN, OPERATOR = Owner(2**52), Owner(2**52 + 1), Owner(), Owner(operator=True)
PEER = "192.0.2.1:5000"


def report_of(title: str = "new v old", **fields: Any) -> Any:
    return {"title": title, "form": "match", "variant": "rbc", "players": [{"name": "new"}, {"name": "old"}], **fields}


def report(title: str = "new v old", **fields: Any) -> ContestReport:
    return msgspec.convert(report_of(title, **fields), ContestReport)


def contest(daemon: Daemon, number: int) -> Contest:
    """Return a contest of a daemon."""
    found = daemon.contests.get(number)
    assert found is not None
    return found


# --- Requests ---------------------------------------------------------------------------------------------------


async def test_second_report_with_the_token_replaces_the_first() -> None:
    async with running_daemon() as daemon:
        assert await daemon.ask("contest", token=TOKEN, report=report_of()) == {"contest_id": 1, "error": None}
        reply = await daemon.ask("contest", token=TOKEN, report=report_of(games=3, status="over"))
        assert reply["contest_id"] == 1
        assert contest(daemon, 1).report == report(games=3, status="over")
        assert (await daemon.ask("contest", token=TOKEN + "0", report=report_of()))["contest_id"] == 2


async def test_each_owner_has_contests_of_its_own() -> None:
    async with running_daemon() as daemon:
        keys = {}
        for name in ("ada", "bea"):
            reply = await daemon.ask("register", name=name)
            keys[reply["player"]] = reply["key"]
        for player, key in keys.items():
            await daemon.ask("contest", player=player, key=key, token=TOKEN, report=report_of())
        await daemon.ask("contest", token=TOKEN, report=report_of())
        await daemon.ask("contest", player=7, token=TOKEN, report=report_of())  # open ids are nobody's
        await daemon.ask_as_operator("contest", token=TOKEN, report=report_of())
        assert [contest(daemon, number).owner for number in range(1, 5)] == [*map(Owner, keys), OPEN, OPERATOR]


async def test_report_as_another_player_is_unauthorized() -> None:
    async with running_daemon() as daemon:
        player = (await daemon.ask("register", name="ada"))["player"]
        with pytest.raises(Refused, match="player: ") as caught:
            await daemon.ask("contest", player=player, key="x" * 43, token=TOKEN, report=report_of())
        assert caught.value.code == "unauthorized"


async def test_server_of_registered_players_takes_no_report_of_others() -> None:
    async with running_daemon(require_registration=True) as daemon:
        with pytest.raises(Refused) as caught:
            await daemon.ask("contest", token=TOKEN, report=report_of())
        assert caught.value.code == "unauthorized"
        ada = await daemon.ask("register", name="ada")
        await daemon.ask("contest", player=ada["player"], key=ada["key"], token=TOKEN, report=report_of())
        await daemon.ask_as_operator("contest", token=TOKEN, report=report_of())


@pytest.mark.parametrize(
    "report",
    [
        report_of(""),
        report_of("x" * 101),
        report_of("two\nlines"),
        report_of("one line\n"),
        report_of("\u202egnp.exe"),
        report_of("\x9b31m"),
        report_of(players=[]),
        report_of(players=[{"name": "x"}] * 101),
        report_of(players=[{"name": "new", "cells": ["1", "0"]}], columns=["1"]),
        report_of(players=[{"name": "new", "cells": ["1", "0\n"]}], columns=["1", "2"]),
        report_of(players=[{"name": "new", "cells": ["1"]}], columns=["\u202e1"]),
        report_of(latest=[{"game_id": 1, "white": 0, "black": 2}]),
        report_of(latest=[{"game_id": 1, "white": 0, "black": 1, "result": "*"}]),
        report_of(elo={"value": 1e9, "low": 0.0, "high": 0.0}),
        report_of(curve=[{"games": 1}] * 201),
        report_of(games=-1),
        report_of(note=None),
        report_of(columns=["x" * 100] * 10, players=[{"name": "new", "cells": ["x" * 100] * 10}] * 100),
        {"title": "new v old"},
        None,
    ],
)
async def test_report_that_cannot_be_shown_is_refused(report: Any) -> None:
    async with running_daemon() as daemon:
        with pytest.raises(Refused) as caught:
            await daemon.ask("contest", token=TOKEN, report=report)
        assert caught.value.code == "bad_request"
        assert "report" in str(caught.value)
        assert len(daemon.contests) == 0


async def test_refusal_of_a_cell_names_it_and_the_rule() -> None:
    async with running_daemon() as daemon:
        with pytest.raises(Refused) as caught:
            await daemon.ask("contest", token=TOKEN, report=report_of(columns=["1", "two\nlines"]))
        rule = "a text has no line breaks, other control characters, or marks of direction"
        assert str(caught.value) == f"report: the cell 'two\\nlines': {rule}"


@pytest.mark.parametrize("token", ["", "x" * 15, "x" * 257, None, 7])
async def test_token_that_is_too_short_or_no_text_is_refused(token: Any) -> None:
    async with running_daemon() as daemon, connected(daemon) as client:
        reply = await client.ask("contest", token=token, report=report_of())
        assert reply["code"] == "bad_request"
        assert "token" in reply["error"]


# --- Durability -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_killed_daemon_has_lost_no_contest_that_began_or_ended(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path))
    with served(*data) as daemon:
        with connect(daemon.host, daemon.port) as client:
            assert client.contest(TOKEN, report_of("one"))["contest_id"] == 1
            assert client.contest(TOKEN + "2", report_of("two"))["contest_id"] == 2
            assert client.contest(TOKEN + "2", report_of("two", status="over", games=5))["contest_id"] == 2
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(60)
    with served(*data) as daemon, connect(daemon.host, daemon.port) as client:
        assert client.contest(TOKEN, report_of("one", status="stopped"))["contest_id"] == 1
        assert client.contest(TOKEN + "3", report_of("three"))["contest_id"] == 3
    stored = trio.run(loaded, tmp_path)
    assert [each.report for each in stored] == [
        report("one", status="stopped"),
        report("two", status="over", games=5),
        report("three"),
    ]


async def loaded(directory: Path) -> list[Contest]:
    with store_in(directory) as store:
        async with running_log(store) as log:
            return await SqlContests(log).load()


async def test_stopped_daemon_has_lost_no_report(tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path)) as daemon:
        for games in range(9):
            await daemon.ask("contest", token=TOKEN, report=report_of(games=games))
    async with running_daemon(data=str(tmp_path)) as daemon:
        assert contest(daemon, 1).report.games == 8
        assert contest(daemon, 1).began <= contest(daemon, 1).changed


async def test_damaged_row_is_left_out_and_its_number_is_not_used_again(tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path)) as daemon:
        for number in range(3):
            await daemon.ask("contest", token=f"{number:016}", report=report_of(f"contest {number}"))
    with store_in(tmp_path) as store:
        store.write_beside(
            lambda connection: connection.exec_driver_sql("UPDATE contests SET report = 'x' WHERE contest_id = 3")
        )
    async with running_daemon(data=str(tmp_path)) as daemon:
        assert [each.contest_id for each in daemon.contests.newest_first()] == [2, 1]
        assert (await daemon.ask("contest", token=f"{2:016}", report=report_of()))["contest_id"] == 4


class FailingContests(MemoryContests):
    """A store that fails when asked to."""

    fails = False

    def __init__(self) -> None:
        self.writes: list[list[int]] = []

    async def write(self, changed: Any, gone: Any) -> None:
        if self.fails:
            raise LogFailed("the contests cannot be written; nothing was done")
        self.writes.append([each.contest_id for each in changed])


async def test_contest_that_cannot_be_stored_does_not_begin() -> None:
    store = FailingContests()
    contests = Contests(store)
    store.fails = True
    with pytest.raises(LogFailed):
        await contests.report(ADA, TOKEN, report(), PEER)
    assert len(contests) == 0
    store.fails = False
    assert await contests.report(ADA, TOKEN, report(), PEER) == 1
    store.fails = True
    with pytest.raises(LogFailed):
        await contests.report(ADA, TOKEN, report(status="over"), PEER)
    await contests.report(ADA, TOKEN, report(games=1), PEER)  # acknowledged, and stored later


async def test_reports_of_some_seconds_are_stored_together(autojump_clock: trio.testing.MockClock) -> None:
    store = FailingContests()
    contests = Contests(store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(contests.run)
        for games in range(30):
            await contests.report(ADA, TOKEN, report(games=games), PEER)
            await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert 6 <= len(store.writes) <= 8


# --- Limits -----------------------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "MAX_CONTESTS", 6)
    monkeypatch.setattr(book, "MAX_OF_PLAYER", 3)
    monkeypatch.setattr(book, "MAX_OF_OTHERS", 2)


def kept(contests: Contests) -> dict[int, str]:
    return {each.contest_id: each.summary.title for each in contests.newest_first()}


async def test_owner_with_too_many_contests_loses_its_stalest(few: None) -> None:
    contests = Contests(MemoryContests())
    await contests.report(BEA, TOKEN, report("bea"), PEER)
    for number in range(4):
        await contests.report(ADA, f"{number:016}", report(f"ada {number}"), PEER)
    assert kept(contests) == {5: "ada 3", 4: "ada 2", 3: "ada 1", 1: "bea"}
    await contests.report(ADA, f"{1:016}", report("ada 1 again"), PEER)
    await contests.report(ADA, f"{4:016}", report("ada 4"), PEER)
    assert kept(contests) == {6: "ada 4", 5: "ada 3", 3: "ada 1 again", 1: "bea"}


async def test_clients_without_registered_player_displace_only_each_other(few: None) -> None:
    contests = Contests(MemoryContests())
    await contests.report(ADA, TOKEN, report("ada"), PEER)
    for number in range(5):
        await contests.report(OPEN, f"{number:016}", report(f"guest {number}"), PEER)
    assert kept(contests) == {6: "guest 4", 5: "guest 3", 1: "ada"}


async def test_above_the_limit_of_all_the_owner_with_most_contests_loses_one(few: None) -> None:
    contests = Contests(MemoryContests())
    await contests.report(BEA, TOKEN, report("bea"), PEER)
    for number in range(3):
        await contests.report(ADA, f"{number:016}", report(f"ada {number}"), PEER)
    for number in range(2):
        await contests.report(OPEN, f"{number:016}", report(f"guest {number}"), PEER)
    await contests.report(OPERATOR, TOKEN, report("operator"), "")
    assert sorted(kept(contests).values()) == ["ada 1", "ada 2", "bea", "guest 0", "guest 1", "operator"]


async def test_address_begins_only_so_many_contests_in_an_hour(autojump_clock: trio.testing.MockClock) -> None:
    contests = Contests(MemoryContests())
    for number in range(book.BEGUN_PER_HOUR):
        await contests.report(ADA, f"{number:016}", report(), PEER)
    with pytest.raises(TooMany):
        await contests.report(ADA, TOKEN, report(), PEER)
    await contests.report(ADA, TOKEN, report(), "")  # the operator's socket has no address
    await trio.sleep(3_600)
    await contests.report(ADA, TOKEN + "2", report(), PEER)


async def test_contest_takes_only_so_many_reports_in_a_minute(autojump_clock: trio.testing.MockClock) -> None:
    contests = Contests(MemoryContests())
    for _ in range(1 + book.REPORTS_PER_MINUTE):
        await contests.report(ADA, TOKEN, report(), PEER)
    with pytest.raises(TooMany):
        await contests.report(ADA, TOKEN, report(), PEER)
    for _ in range(100):
        await trio.sleep(1)
        await contests.report(ADA, TOKEN, report(), PEER)


async def test_report_is_measured_as_it_is_stored() -> None:
    contests = Contests(MemoryContests())
    cells = {"columns": ["1"] * 20, "players": [{"name": "é" * 50, "cells": ["x" * 30] * 20}] * 100}
    assert len(msgspec.json.encode(report(**cells))) > MAX_REPORT
    with pytest.raises(BadRequest, match=str(MAX_REPORT)):
        await contests.report(ADA, TOKEN, report(**cells), PEER)
