"""Matches and tournaments on the pages of the server that they are played on."""

from __future__ import annotations

import random
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gm_arena.contest import MOST_BYTES, MOST_POINTS, REPEAT_SECONDS, Reporter, fitting, plain, reporting
from gm_arena.match.contest import MatchContest
from gm_arena.sprt import Sprt
from gm_client.trio_client import Client
from gm_protocol.contests import ContestReport
from gmd.background import BackgroundDaemon, background_daemon
from gmd.config import Config
from gmd.daemon import Daemon
from tests.arena.matches import PATIENCE, TWO, command, run
from tests.arena.test_tournament_command import finished
from tests.arena.tournaments import hall, seat_all
from tests.helpers import running_daemon
from tests.http.pages.browser import ACCEPT
from tests.serving import environment

REPORT: Any = {"title": "a v b", "form": "match", "variant": "rbc", "players": [{"name": "a"}, {"name": "b"}]}
TOKEN = "0123456789abcdef"
TERMS = ("--variant", "standard", "--max-moves", 2)


@pytest.fixture
def with_pages(tmp_path: Path) -> Iterator[BackgroundDaemon]:
    with background_daemon(Config(port=0, data=str(tmp_path / "data"), http=True, http_port=0)) as daemon:
        yield daemon


def page(daemon: Daemon | BackgroundDaemon, path: str) -> str:
    """Return the text of a page."""
    answer = httpx.get(
        f"http://127.0.0.1:{daemon.http_port}{path}", headers={"accept": ACCEPT}, trust_env=False, timeout=60
    )
    assert answer.status_code == 200, answer.text
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())


# --- The commands -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_matches_on_a_server_show_their_final_score_and_test_or_cross_table(
    with_pages: BackgroundDaemon, tmp_path: Path
) -> None:
    server = ("--server", f"127.0.0.1:{with_pages.port}")
    record = ("--json-out", tmp_path / "match.jsonl")
    test = ("--sprt", "elo0=0", "elo1=10", "--games", 4, "--concurrency", 2)
    status, out, err = run(*TWO, *TERMS, *test, *server, *record)
    assert status == 0, err
    assert "pages" not in err
    text = page(with_pages, "/contests/1")
    assert "Match of Chess, over : 4 of 4 games." in text
    assert out.strip().splitlines()[-1] in text  # the verdict
    found = re.search(r"LLR: (-?[\d.]+) \(", out)
    assert found
    assert f"LLR {found[1].replace('-', '−')}, between −2.94 and 2.94: not decided yet" in text
    assert "SPRT of Elo 0 against 10 (normalized)" in text
    assert "1 one 2 4 0 4 0 2 two 2 4 0 4 0" in text
    assert "1/2-1/2" in text
    run(*TWO, *TERMS, *test, *server, *record, "--resume")
    assert page(with_pages, "/contests").count("over") == 1  # the same match
    status, _, err = run(*TWO, "three=random", *TERMS, *server)
    assert status == 0, err
    text = page(with_pages, "/contests/2")
    assert "over : 6 of 6 games." in text
    assert "+0 =2 -0" in text


@pytest.mark.slow
def test_interrupted_match_is_shown_as_stopped(with_pages: BackgroundDaemon) -> None:
    arguments = command(*TWO, *TERMS, "--games", 1_000, "--server", f"127.0.0.1:{with_pages.port}")
    with subprocess.Popen(arguments, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert any(line.startswith("game 1:") for line in process.stdout)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Match of Chess, stopped" in page(with_pages, "/contests/1")


def test_match_inside_its_own_daemon_reports_to_nobody() -> None:
    status, _, err = run(*TWO, *TERMS)
    assert status == 0
    assert "pages" not in err


@pytest.mark.slow
async def test_tournament_shows_its_cross_table(tmp_path: Path) -> None:
    names = ("ada", "bea", "cleo")
    async with hall(tmp_path, *names, http=True, http_port=0) as house:
        seat_all(house, names)
        await house.gathered(*names)
        status, _, err = await finished(tmp_path, "spring", "--games", "2")
        assert status == 0, err
        daemon = house.daemon
        assert daemon is not None
        (contest,) = daemon.contests.newest_first()
        assert contest.owner.operator
        text = await trio.to_thread.run_sync(page, daemon, f"/contests/{contest.contest_id}")
        assert "Tournament of Chess, over : 6 of 6 games." in text
        assert "1 ada 4 4 4 0 0 × 11 11" in text
        assert "3 cleo 0 4 0 0 4 00 00 ×" in text
        again, _, _ = await finished(tmp_path, "spring", "--resume")
        assert again == 0
        assert len(daemon.contests) == 1


# --- Reports ----------------------------------------------------------------------------------------------------


class Counted:
    """Builds reports, and counts them."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        self.built = 0

    def __call__(self) -> Any:
        self.built += 1
        return REPORT | {"games": self.built} | self.fields


async def test_reports_are_sent_once_a_second_at_most(mock_clock: MockClock) -> None:
    mock_clock.rate = 20.0
    build = Counted()
    async with running_daemon() as daemon:
        async with Client(port=daemon.port) as client, reporting(client, TOKEN, build) as reporter:
            began = trio.current_time()
            for _ in range(40):
                reporter.changed()
                await trio.sleep(0.05)
            seconds = trio.current_time() - began
        assert build.built <= seconds + 3
        contest = daemon.contests.get(1)
        assert contest is not None
        assert contest.report.games == build.built  # the last one arrived


async def test_contest_that_never_began_is_not_reported() -> None:
    build = Counted()
    async with running_daemon() as daemon:
        async with Client(port=daemon.port) as client, reporting(client, TOKEN, build):
            await trio.lowlevel.checkpoint()
        assert (build.built, len(daemon.contests)) == (0, 0)


async def test_refusal_is_mentioned_once_and_the_contest_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    build = Counted(title="")
    async with running_daemon() as daemon, Client(port=daemon.port) as client:
        reporter = Reporter(client, TOKEN, build)
        with trio.fail_after(60):
            reporter.changed()
            await reporter.run()  # ends by itself
        reporter.changed()
        await reporter.last()
    assert build.built == 1
    assert capsys.readouterr().err.count("does not show this on its pages") == 1


async def test_unreachable_server_delays_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    async with running_daemon() as daemon:
        port = daemon.port
    async with reporting(Client(port=port, patience=0.01), TOKEN, Counted()) as reporter:
        reporter.changed()
    assert capsys.readouterr().err.count("does not show this on its pages") <= 1


async def test_error_of_the_contest_passes_unchanged() -> None:
    async with running_daemon() as daemon:

        async def fail() -> None:
            async with reporting(Client(port=daemon.port), TOKEN, Counted()) as reporter:
                reporter.changed()
                raise LookupError

        with pytest.raises(LookupError):
            await fail()
        assert len(daemon.contests) == 1
    assert REPEAT_SECONDS < 600  # shorter than the silence after which pages take it to be interrupted


LABELS = st.lists(st.text(min_size=1, max_size=120), min_size=2, max_size=4, unique=True)


@given(LABELS, st.integers(0, 60), st.integers(0, 2**32), st.booleans())
def test_report_of_any_match_is_one_that_the_server_takes(
    labels: list[str], games: int, seed: int, tests: bool
) -> None:
    drawn = random.Random(seed)
    sprt = Sprt(0.0, 10.0) if tests else None
    contest = MatchContest(labels, [7, "name", *range(3)][: len(labels)], "rbc", games, sprt)
    for number in range(1, games + 1):
        white, black = drawn.sample(labels, 2)
        pair = [number // 2 if drawn.random() < 0.7 else -number]
        result = drawn.choice(["1-0", "0-1", "1/2-1/2"])
        contest.add(
            {"game_id": number, "white": white, "black": black, "result": result, "pair": pair, "opening": "start"}
        )
    found = msgspec.convert(fitting(contest.report()), ContestReport)
    assert found.games == games
    assert sum(row.points for row in found.players) == games
    assert len(found.curve) <= MOST_POINTS
    assert not found.curve or found.curve[-1].games == games


def test_long_curve_is_thinned_and_ends_with_the_last_game() -> None:
    contest = MatchContest(["a", "b"], [1, 2], "rbc", 5_000, None)
    for number in range(1, 1_235):
        result = "1-0" if number % 3 else "0-1"
        contest.add(
            {"game_id": number, "white": "a", "black": "b", "result": result, "pair": [number], "opening": "start"}
        )
    games = [point["games"] for point in contest.report()["curve"]]
    assert MOST_POINTS / 4 < len(games) <= MOST_POINTS
    assert games == sorted(games)
    assert games[-1] == 1_234


def test_huge_table_loses_its_cells() -> None:
    rows = [{"name": f"player {number}", "cells": ["x" * 40] * 100} for number in range(150)]
    found = fitting(REPORT | {"players": rows, "columns": ["1"] * 100, "latest": []})
    assert len(found["players"]) == 100
    assert len(msgspec.json.encode(msgspec.convert(found, ContestReport))) <= MOST_BYTES


def test_names_lose_what_the_protocol_does_not_take() -> None:
    assert plain("uci:./a\tb\u202e\n") == "uci:./a b "
    assert plain("x" * 200) == "x" * 99 + "…"
