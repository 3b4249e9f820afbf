"""Players' pages and the ranked table: ratings with their past, results against each opponent, games."""

from __future__ import annotations

import re
from typing import Any

import trio

from gm_protocol.messages import GameRow
from gmd.daemon import Daemon
from gmd.event_log.interface import RankedResult
from gmd.http.pages.chart import HEIGHT, WIDTH, Level, Line, chart
from gmd.http.pages.players import Rated, ranked_against, ratings_curve, scores_against
from gmd.lobby.rating_history import Point
from gmd.lobby.results import Entrant, Record, Score
from tests.helpers import Json
from tests.http.pages.browser import Page, pages


def row(white: int | None, black: int | None, result: str) -> GameRow:
    return GameRow(
        game_id=1, variant="standard", player_white=white, player_black=black, status="over", turn="white", ply_index=1,
        termination="draw_agreed", result=result, created="", changed="",  # type: ignore[arg-type]
    )  # fmt: skip


# --- Content ----------------------------------------------------------------------------------------------------


def test_results_are_those_against_each_opponent_with_either_colour() -> None:
    rows = [
        row(1, 2, "1-0"),
        row(2, 1, "1-0"),
        row(3, 1, "0-1"),
        row(1, 2, "1/2-1/2"),
        row(1, 1, "1-0"),
        row(1, 2, "*"),
    ]
    assert scores_against(1, rows) == {2: Score(1, 1, 1), 3: Score(1, 0, 0)}


def test_ranked_results_count_all_versions_of_both() -> None:
    record = Record(
        [RankedResult(1, 1, 2, 0, True, 3), RankedResult(2, 5, 1, 2, None, 2), RankedResult(3, 0, 1, 2, True)]
    )
    found = ranked_against(record, [Entrant(1, 1), Entrant(1, 2)])
    assert found == {2: Score(3, 2, 0), 3: Score(0, 0, 1)}
    assert ranked_against(record, [Entrant(1, 1)]) == {2: Score(3, 0, 0)}


def rated(version: int, *points: tuple[float, float]) -> Rated:
    past = [Point(at, rating, 50.0, number) for number, (at, rating) in enumerate(points, 1)]
    return Rated(1, version, 1500.0, 50.0, False, Score(1, 0, 0), past)


def test_each_version_has_a_line_with_its_interval() -> None:
    found = ratings_curve("ada", [rated(2, (2e9, 1600.0), (2e9 + 90, 1650.0)), rated(0, (1.9e9, 1500.0))])
    assert found is not None
    assert [line.name for line in found.lines] == ["Version 2", "Without a version"]
    assert [bool(line.band) for line in found.lines] == [True, False]  # one point has no band
    assert found.words == "Curve of the rating of ada over time: now 1500 ± 98."
    assert ratings_curve("ada", []) is None
    assert ratings_curve("ada", [rated(1)]) is None


def test_curve_stays_within_its_picture_and_its_limits() -> None:
    line = Line("l", [(0.0, -1e6), (5.0, 0.0), (9.0, 1e6)], [(0.0, -1e6, 1e6), (9.0, 0.0, 1.0)])
    found = chart("t", [line], x_label="x", y_label="y", words="w", levels=[Level("zero", 0.0)], limits=(-10.0, 10.0))
    assert found is not None
    drawn = re.findall(r"[ML]([\d.]+) ([\d.]+)", found.lines[0].path + found.lines[0].band)
    assert len(drawn) == 7
    assert all(0 <= float(x) <= WIDTH and 0 <= float(y) <= HEIGHT for x, y in drawn)
    assert [mark.text for mark in found.y_marks] == ["−10", "−5", "0", "5", "10"]
    assert found.lines[0].path.startswith(f"M{found.left:.1f} {found.bottom:.1f}")


# --- Routes -----------------------------------------------------------------------------------------------------


async def ranked_game(daemon: Daemon, players: list[Json], winner: int) -> None:
    """Play a ranked game of two players, which the first or the second wins."""
    paired = await daemon.ask_as_operator(
        "pair", white=players[0]["player"], black=players[1]["player"], variant="rbc", ranked=True
    )
    for player in players:
        await daemon.ask("accept", game_id=paired["game_id"], **player)
    color = ("black", "white")[winner]
    await daemon.ask("end_game", game_id=paired["game_id"], termination=f"resignation_{color}", **players[1 - winner])


async def registered(daemon: Daemon, *names: str) -> list[Any]:
    found = []
    for name in names:
        reply = await daemon.ask("register", name=name)
        found.append({"player": reply["player"], "key": reply["key"]})
        await daemon.ask("settings", max_games=4, **found[-1])
    return found


def section(page: Page, name: str) -> str:
    """Return the text of a section of a page."""
    found = re.search(rf'<section aria-labelledby="{name}">.*?</section>', page.response.text, re.DOTALL)
    assert found, page.response.text
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


async def test_player_has_rating_results_and_games() -> None:
    async with pages() as (daemon, browser):
        players = await registered(daemon, "ann", "bob")
        for winner, games in ((0, 1), (0, 2), (1, 3)):
            await ranked_game(daemon, players, winner)
            while (await daemon.ask("leaderboard"))["games"] < games:
                await trio.lowlevel.checkpoint()
        game = await daemon.ask("new_game", player_white=players[0]["player"], player_black=9, **players[0])
        ended = await daemon.ask("new_game", player_white=players[0]["player"], player_black=9, **players[0])
        await daemon.ask("end_game", game_id=ended["game_id"], termination="resignation_black", player=9)
        page = await browser.get(f"/players/{players[0]['player']}")
        assert re.search(r"none 1 \d+ ± \d+ 3 2 0 1 ", section(page, "rating"))
        assert "Rating over time" in page.text
        assert len(re.findall(r"UTC none \d+ ± \d+ [123](?= |$)", section(page, "rating"))) == 3
        assert section(page, "ranked").endswith("bob 3 2 0 1 67 %")
        assert "The latest 4 finished games" in section(page, "results")
        assert section(page, "results").endswith("bob 3 2 0 1 67 % Guest 9 1 1 0 0 100 %")
        assert f"/games/{game['game_id']}" in page.links
        assert {f"/players/{players[1]['player']}", "/players/9"} <= set(page.links)
        other = await browser.get("/players/9")
        assert other.status == 200
        assert section(other, "results").endswith("ann 1 0 0 1 0 %")
        assert "/players/9" in (await browser.get("/")).links
        table = await browser.get("/ranked")
        assert re.search(r"1 ann \d+ ± \d+ 3 2 0 1 2 bob \d+ ± \d+ 3 1 0 2", table.text)
        assert "Computed from 3 ranked games." in table.text


async def test_pages_do_not_say_who_is_registered() -> None:
    async with pages() as (daemon, browser):
        (ann,) = await registered(daemon, "ann")
        answers = [await browser.get(f"/players/{player}") for player in (ann["player"], ann["player"] + 1)]
        assert [answer.status for answer in answers] == [404, 404]
        texts = [answer.response.text.replace(answer.path, "") for answer in answers]
        assert texts[0] == texts[1]
        assert "ann" not in texts[0].replace("banner", "")


async def test_games_of_a_player_are_shown_in_pages() -> None:
    async with pages() as (daemon, browser):
        for _ in range(35):
            game = await daemon.ask("new_game", player_white=5, player_black=6, brief=True)
            await daemon.ask("end_game", game_id=game["game_id"], termination="resignation_black", player=6)
        page = await browser.get("/players/5")
        assert section(page, "finished").count("White won by resignation") == 30
        assert section(page, "results").endswith("Guest 6 35 35 0 0 100 %")
        older = await browser.get("/players/5?before=6")
        assert "/players/5?before=6" in page.links
        assert section(older, "finished").count("White won by resignation") == 5
        assert "Chess 1 " in section(older, "finished")


async def test_live_blind_game_shows_only_what_the_list_of_games_shows() -> None:
    async with pages(spectate="ended") as (daemon, browser):
        await daemon.ask("new_game", player_white=5, player_black=6, variant="rbc")
        before = (await browser.get("/players/5")).response.text
        await daemon.ask("sense", player=5, game_id=1, square="e7")
        assert (await browser.get("/players/5")).response.text == before
