"""The pages of matches and tournaments: what they show of a report, whatever it says."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gm_protocol.contests import MAX_COLUMNS, MAX_GAMES, MAX_PLAYERS, MAX_POINTS, ContestReport
from gmd.handlers.in_process import Refused
from gmd.http.pages.contest_view import MOST_ROWS, SILENT_SECONDS, contest_view, state_of, thinned
from gmd.http.pages.contests import A_PAGE
from gmd.lobby.contests import Contest, Owner, summary_of
from tests.http.pages.browser import Browser, pages

TOKEN = "0123456789abcdef"
PLAYERS = [
    {"name": "new", "points": 2.5, "games": 3, "wins": 2, "draws": 1, "player": 7},
    {"name": "old", "points": 0.5, "games": 3, "draws": 1, "losses": 2},
]
SPRT = {
    "elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05, "model": "logistic",
    "lower": -2.94, "upper": 2.94, "llr": 1.5,
}  # fmt: skip
CURVE = [
    {"games": games, "elo": 100.0 / games, "low": -50.0, "high": 200.0 / games, "llr": games / 2} for games in (1, 2, 3)
]
MATCH: dict[str, Any] = {
    "title": "new v old",
    "form": "match",
    "variant": "rbc",
    "planned": 10,
    "games": 3,
    "players": PLAYERS,
    "score": {"value": 0.8333, "low": 0.5, "high": 1.0},
    "elo": {"value": 280.0, "low": -12.4, "high": 10_000.0},
    "sprt": SPRT,
    "curve": CURVE,
    "latest": [{"game_id": 3, "white": 1, "black": 0}, {"game_id": 2, "white": 0, "black": 1, "result": "1-0"}],
}
TOURNAMENT: dict[str, Any] = {
    "title": "spring",
    "form": "tournament",
    "variant": "standard",
    "status": "over",
    "note": "Round robin of 2 players.",
    "games": 2,
    "columns": ["1", "2"],
    "players": [{"name": "ada", "cells": ["×", "1½"]}, {"name": "bea", "cells": ["0½", "×"]}],
}


def contest(report: dict[str, Any], changed: float = 0.0, owner: Owner | None = None) -> Contest:
    read = msgspec.convert(report, ContestReport)
    return Contest(3, owner or Owner(), b"", 0.0, changed, msgspec.json.encode(read), summary_of(read))


def unnamed(player: int | None) -> str | None:
    return None if player is None else f"number {player}"


# --- Content ----------------------------------------------------------------------------------------------------


def test_contest_is_interrupted_once_its_runner_is_silent() -> None:
    running = contest(MATCH, changed=1_000.0)
    assert state_of(running, 1_000.0 + SILENT_SECONDS) == "running"
    assert state_of(running, 1_001.0 + SILENT_SECONDS) == "interrupted"
    assert state_of(contest(TOURNAMENT), 1e9) == "over"


def test_curves_have_a_point_for_each_of_the_report_and_the_bounds_of_the_test() -> None:
    view = contest_view(contest(MATCH), 0.0, unnamed)
    assert view.elo is not None
    assert view.llr is not None
    assert [len(re.findall("[ML]", curve.lines[0].path)) for curve in (view.elo, view.llr)] == [3, 3]
    assert len(re.findall("[ML]", view.elo.lines[0].band)) == 6
    assert [level.text for level in view.llr.levels] == ["H1 accepted: Elo 10 (2.94)", "H0 accepted: Elo 0 (−2.94)"]
    assert view.llr.words.endswith("now 1.50, between −2.94 and 2.94.")
    assert view.elo.words.endswith("now 280 (−12 to 10000).")


def test_cells_of_a_cross_table_lead_to_the_games_of_their_players() -> None:
    players = [{**row, "player": 10**15 + index} for index, row in enumerate(TOURNAMENT["players"], 1)]
    view = contest_view(contest(TOURNAMENT | {"players": players}), 0.0, unnamed)
    ada, _ = view.report.players
    assert view.is_cross
    assert view.games_of(ada, 1) == f"/games?player={10**15 + 1}&opponent={10**15 + 2}"
    assert view.games_of(ada, 0) == ""
    rounds = contest_view(contest(TOURNAMENT | {"columns": ["R1", "R2"], "players": players}), 0.0, unnamed)
    assert not rounds.is_cross
    assert rounds.games_of(rounds.report.players[0], 1) == ""


@given(st.integers(0, MAX_POINTS))
def test_table_of_figures_has_the_first_and_the_last_point(count: int) -> None:
    points = msgspec.convert(MATCH | {"curve": [{"games": games} for games in range(count)]}, ContestReport).curve
    shown = thinned(points, MOST_ROWS)
    assert len(shown) == min(count, MOST_ROWS)
    assert [point.games for point in shown] == sorted({point.games for point in shown})
    assert not count or (shown[0].games, shown[-1].games) == (0, count - 1)


# --- Routes -----------------------------------------------------------------------------------------------------


async def test_match_has_its_score_its_interval_and_its_test() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("contest", token=TOKEN, report=MATCH)
        page = await browser.get("/contests/1")
        assert page.status == 200
        for words in (
            "Match of Reconnaissance blind chess, running : 3 of 10 games.",
            "1 new 2½ 3 2 1 0 2 old ½ 3 0 1 2",
            "83.3 % (50.0 % to 100.0 %) for new",
            "280 (−12 to 10000)",
            "SPRT of Elo 0 against 10 (logistic), errors 0.05 and 0.05",
            "1.50, between −2.94 and 2.94: not decided yet",
            "Game 3 old new being played Game 2 new old 1-0",
        ):
            assert words in page.text, page.text
        assert {"/games/3", "/games/2", "/players/7"} <= set(page.links)
        assert "/static/" in "".join(source for source in page.sources if source.endswith("contest.js"))
        drawn = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page.response.text, re.DOTALL)]
        assert [svg.get("role") for svg in drawn] == ["img", "img"]
        assert not [element for svg in drawn for element in svg.iter() if "style" in element.attrib]
        await daemon.ask("contest", token=TOKEN, report=MATCH | {"status": "over", "sprt": SPRT | {"accepted": "H1"}})
        page = await browser.get("/contests/1")
        assert "H1 accepted: Elo 10" in page.text
        assert not [source for source in page.sources if source.endswith("contest.js")]


async def test_part_that_changes_is_loaded_alone() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("contest", token=TOKEN, report=TOURNAMENT)
        whole, part = await browser.get("/contests/1"), await browser.get("/contests/1?part=1")
        assert part.response.text.rstrip() in whole.response.text
        assert "<html" not in part.response.text
        assert "1 ada 0 0 0 0 0 × 1½ 2 bea 0 0 0 0 0 0½ ×" in part.text
        assert part.response.headers["content-type"] == "text/html; charset=utf-8"


async def test_table_for_a_wall_is_the_page_with_a_class_of_its_own_and_has_a_link() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("contest", token=TOKEN, report=TOURNAMENT)
        assert "/contests/1?wall=1" in (await browser.get("/contests/1")).response.text
        wall = (await browser.get("/contests/1?wall=1")).response.text
        assert '<div id="contest" class="wall" data-path="/contests/1">' in wall
        assert "?wall=1" not in wall


@pytest.mark.slow
async def test_large_table_is_rendered_in_slices_and_charged_to_its_address() -> None:
    cells = [""] * MAX_COLUMNS
    players = [{"name": "ada", "cells": cells}] * MAX_PLAYERS
    async with pages(max_work_per_minute=1) as (daemon, browser):
        await daemon.ask("contest", token=TOKEN, report=TOURNAMENT | {"columns": cells, "players": players})
        daemon.arbiter.cpu_queue.slice_seconds = 0.0
        before = daemon.arbiter.cpu_queue.slices
        page = await browser.get("/contests/1")
        assert page.response.text.count('<td class="met"></td>') == MAX_COLUMNS * MAX_PLAYERS
        assert daemon.arbiter.cpu_queue.slices - before > MAX_PLAYERS
        part = await browser.get("/contests/1?part=1")
        assert part.status == 503
        assert "processor time" in part.text


@pytest.mark.parametrize("path", ["/contests/2", "/contests/0", "/contests/99999999999999999999", "/contests/x"])
async def test_unknown_contest_is_not_found(path: str) -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("contest", token=TOKEN, report=MATCH)
        assert (await browser.get(path)).status == 404


async def test_lists_have_all_contests_in_pages_newest_first() -> None:
    async with pages() as (daemon, browser):
        assert "None has been played here yet." in (await browser.get("/contests")).text
        for number in range(A_PAGE + 1):
            await daemon.ask_as_operator("contest", token=f"{number:016}", report=MATCH | {"title": f"match {number}."})
        first = await browser.get("/contests")
        assert [link for link in first.links if link.startswith("/contests/")][:2] == ["/contests/51", "/contests/50"]
        assert "match 0." not in first.text
        older = await browser.get("/contests?before=2")
        assert "/contests?before=2" in first.links
        assert "match 0." in older.text
        assert "match 1." not in older.text
        assert (await browser.get("/contests?before=x")).status == 400


async def test_home_page_lists_running_contests_before_others() -> None:
    async with pages() as (daemon, browser):
        for number in range(3):
            status = "over" if number else "running"
            await daemon.ask(
                "contest", token=f"{number:016}", report=MATCH | {"title": f"match {number}", "status": status}
            )
        links = [link for link in (await browser.get("/")).links if link.startswith("/contests/")]
        assert links == ["/contests/1", "/contests/3", "/contests/2"]


# --- Strange reports --------------------------------------------------------------------------------------------


async def test_reports_of_the_operator_and_of_guests_are_marked_and_those_of_players_have_links() -> None:
    async with pages() as (daemon, browser):
        ann = await daemon.ask("register", name="ann", password="correct horse")
        await daemon.ask_as_operator("contest", token=TOKEN, report=MATCH)
        await daemon.ask("contest", token=TOKEN, report=MATCH)
        await daemon.ask("contest", token=TOKEN, report=MATCH, player=ann["player"], key=ann["key"])
        for path, marks in (("/contests", [1, 1, 1]), ("/contests/1", [1, 0, 0]), ("/contests/2", [0, 1, 0])):
            shown = (await browser.get(path)).response.text
            assert [
                shown.count('<strong class="operator">the operator</strong>'),
                shown.count('<span class="nobody">a guest</span>'),
                shown.count(f'<a class="player" href="/players/{ann["player"]}">ann</a>'),
            ] == marks


HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)> \"' {{ 7*7 }} <h1>"


async def test_names_are_text() -> None:
    report = MATCH | {
        "title": HOSTILE,
        "note": HOSTILE,
        "columns": [HOSTILE],
        "players": [{"name": HOSTILE, "cells": [HOSTILE], "player": number} for number in (3, -3)],
    }
    async with pages() as (daemon, browser):
        await daemon.ask("contest", token=TOKEN, report=report)
        for path in ("/contests/1", "/contests", "/"):
            page = await browser.get(path)
            assert page.inline == []
            assert page.response.text.count("<h1>") == 1
            assert " ".join(HOSTILE.split()) in page.text


TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")), min_size=1, max_size=12)
TEXTS |= st.just(HOSTILE)
NUMBERS = st.floats(-1e6, 1e6) | st.integers(-(10**6), 10**6)
COUNTS = st.integers(0, 10**9)
INTERVALS = st.none() | st.fixed_dictionaries({"value": NUMBERS, "low": NUMBERS, "high": NUMBERS})
ROWS = st.fixed_dictionaries(
    {"name": TEXTS},
    optional={
        "player": st.none() | st.integers(-(2**63), 2**63 - 1),
        "points": NUMBERS,
        "games": COUNTS,
        "wins": COUNTS,
        "cells": st.lists(TEXTS, min_size=2, max_size=2),
    },
)
POINTS = st.fixed_dictionaries({"games": COUNTS}, optional=dict.fromkeys(("elo", "low", "high", "llr"), NUMBERS))
GAMES = st.fixed_dictionaries(
    {"game_id": COUNTS, "white": st.just(0), "black": st.just(0)},
    optional={"result": st.sampled_from(["1-0", "-/-", None])},
)
TESTS = st.fixed_dictionaries(
    {
        **dict.fromkeys(("elo0", "elo1", "lower", "upper", "llr"), NUMBERS),
        **dict.fromkeys(("alpha", "beta"), st.floats(-0.01, 0.51)),
        "model": st.sampled_from(["logistic", "normalized"]),
    },
    optional={"accepted": st.sampled_from(["H0", "H1", None])},
)
#: Reports of every shape; some plan a number of games, have errors of a test, or are of a variant that is refused.
REPORTS = st.fixed_dictionaries(
    {
        "title": TEXTS,
        "form": st.sampled_from(["match", "tournament"]),
        "variant": st.sampled_from(["rbc", "standard", "dark_chess", "no variant"]),
        "players": st.lists(ROWS, min_size=1, max_size=4),
        "columns": st.lists(TEXTS, min_size=2, max_size=2),
    },
    optional={
        "status": st.sampled_from(["running", "stopped", "over"]),
        "note": TEXTS,
        "planned": st.none() | st.integers(-5, 10**10),
        "games": COUNTS,
        "score": INTERVALS,
        "elo": INTERVALS,
        "sprt": st.none() | TESTS,
        "curve": st.lists(POINTS, max_size=6),
        "latest": st.lists(GAMES, max_size=MAX_GAMES),
    },
)


@pytest.mark.slow
async def test_every_report_that_is_taken_is_shown() -> None:
    async with pages() as (daemon, browser):
        assert await _fuzzed(daemon, browser) > 10


async def _fuzzed(daemon: Any, browser: Browser) -> int:
    """Send reports that hypothesis makes up, each as a new contest; return how many were taken."""
    reports: list[dict[str, Any]] = []

    @settings(database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(REPORTS)
    def collect(report: dict[str, Any]) -> None:
        reports.append(report)

    collect()
    taken, codes = 0, set[str]()
    for number, report in enumerate(reports):
        try:
            reply = await daemon.ask("contest", token=f"{number:016}", report=report)
        except Refused as refused:
            codes.add(refused.code)
            continue
        taken += 1
        page = await browser.get(f"/contests/{reply['contest_id']}")
        assert page.status == 200, report
        assert page.inline == []
        assert page.response.text.count("<h1>") == 1
        for svg in re.findall(r"<svg.*?</svg>", page.response.text, re.DOTALL):
            drawn = ElementTree.fromstring(svg)
            coordinates = [float(each) for path in drawn.iter() for each in re.findall(r"-?\d+\.\d", path.get("d", ""))]
            assert all(0 <= each <= 640 for each in coordinates)
    assert codes == {"bad_request"}
    assert (await browser.get("/contests")).status == 200
    return taken
