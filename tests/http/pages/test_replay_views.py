"""Views of finished games that had hidden something, the side at the bottom of boards, what is to be copied."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import chess
import pytest
from reconchess.history import GameHistory

from gmd.daemon import Daemon
from gmd.games.dark import DarkBoard
from tests.http.pages.browser import Page, browsing, pages
from tests.http.pages.test_game_page import over, played

SEATS = {"white": 1, "black": 2}
#: A game of Dark chess in which pieces are captured, also en passant, and White castles and loses its king's bishop.
DARK = ["e2e4", "a7a5", "e4e5", "d7d5", "e5d6", "c7d6", "g1f3", "c8h3", "g2h3", "e7e5", "f1g2", "d8g5", "e1g1", "g5g2"]


def boards_of(page: Page) -> list[dict[str, Any]]:
    """Return the boards of a page as its script gets them."""
    return [json.loads(html.unescape(each)) for each in re.findall(r'data-board="([^"]*)"', page.response.text)]


def live_board_of(page: Page) -> dict[str, Any]:
    """Return the board of the page of a game in progress, as its script gets it."""
    (found,) = re.findall(r'<script type="application/json" id="view">(.*?)</script>', page.response.text)
    board: dict[str, Any] = json.loads(found)["board"]
    return board


async def seen_live(daemon: Daemon, game_id: int) -> dict[str, dict[str, Any]]:
    """Return what each seat of a game in progress is shown."""
    return {
        seat: (await daemon.ask("state", game_id=game_id, player=player))["state"] for seat, player in SEATS.items()
    }


async def test_views_of_a_finished_dark_game_are_those_that_its_players_had() -> None:
    async with pages() as (daemon, browser):
        game_id = await played(daemon, variant="dark_chess")
        live = [await seen_live(daemon, game_id)]
        for ply, move in enumerate(DARK):
            await daemon.ask("move", game_id=game_id, player=1 + ply % 2, move=move)
            live.append(await seen_live(daemon, game_id))
        await daemon.ask("end_game", game_id=game_id, player=1, termination="resignation_white")
        board = DarkBoard()
        for ply, seen in enumerate(live):
            page = await browser.get(f"/games/{game_id}?ply={ply}")
            truth, *sides = boards_of(page)
            assert truth["placement"] == board.board_fen()
            assert (truth["unseen"], truth["last_move"]) == ([], DARK[ply - 1] if ply else None)
            for seat, shown in zip(SEATS, sides, strict=True):
                assert shown["placement"] == seen[seat]["fen"].partition(" ")[0]
                assert set(chess.SQUARE_NAMES) - set(shown["unseen"]) == set(seen[seat]["visible"])
                assert shown["last_move"] == (DARK[ply - 1] if ply and (ply % 2 == 1) == (seat == "white") else None)
                if ply % 5 == 4:
                    (alone,) = boards_of(await browser.get(f"/games/{game_id}?ply={ply}&view={seat}"))
                    assert alone == shown
                    drawn = (await browser.client.get(f"/games/{game_id}.svg?ply={ply}&view={seat}")).text
                    assert drawn.count('"#40444c"') == len(shown["unseen"])
            if ply < len(DARK):
                board.push(chess.Move.from_uci(DARK[ply]))


async def test_dark_game_has_links_to_its_views_and_is_embedded_in_all_of_them() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, *DARK[:4], variant="dark_chess")
        page = await browser.get("/games/1?ply=2")
        assert {f"/games/1?ply=2&view={view}" for view in ("truth", "white", "black")} <= set(page.links)
        for title in ("The truth", "White’s view", "Black’s view"):
            assert title in page.text
            assert title in (await browser.get("/embed/1")).text
        for address in page.sources:
            assert (await browser.client.get(address)).status_code == 200


async def test_dark_game_in_progress_has_no_views() -> None:
    async with pages() as (daemon, browser):
        await played(daemon, *DARK[:4], variant="dark_chess")
        for query in ("", "?view=truth", "?view=white"):
            page = await browser.get(f"/games/1{query}")
            assert boards_of(page) == []
            board = live_board_of(page)
            assert board["placement"] == "8/8/8/8/8/8/8/8"
            assert len(board["unseen"]) == 64
            assert board["last_move"] is None


# --- The bottom of the board ------------------------------------------------------------------------------------------


async def test_player_of_black_has_black_at_the_bottom_unless_the_address_says_otherwise() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        page = await browser.submit((await browser.get("/")).form("/play", variant="standard"), color="black")
        game_id = int(page.path.rpartition("/")[2])
        await daemon.ask("join", player=2, game_id=game_id)
        await daemon.ask("end_game", player=2, game_id=game_id, termination="resignation_white")
        for visitor, query, bottom, turned in (
            (browser, "", "black", "?flip=0"),
            (browser, "?flip=0", "white", ""),
            (browser, "?flip=1", "black", "?flip=0"),
            (other, "", "white", "?flip=1"),
            (other, "?flip=1", "black", ""),
        ):
            page = await visitor.get(f"/games/{game_id}{query}")
            assert [board["orientation"] for board in boards_of(page)] == [bottom]
            assert ("flip=1" in next(each for each in page.sources if ".svg?" in each)) == (bottom == "black")
            assert f"/games/{game_id}{turned}" in page.links
        embedded = await browser.get(f"/embed/{game_id}")
        assert not any("flip" in source for source in embedded.sources)  # which is the same for everybody


# --- What is downloaded and copied ------------------------------------------------------------------------------------


async def test_record_can_be_loaded_by_reconchess(tmp_path: Any) -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e2e4", "d7d5", "e4d5", variant="rbc")
        page = await browser.get("/games/1")
        assert "/games/1.history.json" in page.links
        got = await browser.client.get("/games/1.history.json")
        assert got.headers["content-disposition"] == 'attachment; filename="game-1.history.json"'
        assert got.headers["cache-control"] == "public, max-age=300"
        assert got.json() == (await daemon.ask("history", game_id=1))["history"]
        saved = tmp_path / "game.json"
        saved.write_bytes(got.content)
        history = GameHistory.from_file(str(saved))
        assert [history.taken_move(turn).uci() for turn in history.turns()] == ["e2e4", "d7d5", "e4d5"]
        known = {"if-none-match": got.headers["etag"]}
        assert (await browser.client.get("/games/1.history.json", headers=known)).status_code == 304


async def test_record_is_refused_where_there_is_none_or_it_is_hidden() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e4")
        await played(daemon, "e2e4", variant="rbc")
        refused = [await browser.client.get(f"/games/{game}.history.json") for game in (1, 2, 3)]
        assert [answer.status_code for answer in refused] == [409, 409, 404]
        assert "e2e4" not in refused[1].text
        assert "/games/1.history.json" not in (await browser.get("/games/1")).links


@pytest.mark.parametrize("host", ["gmd.example.org", 'a"><script>'])
async def test_page_has_the_code_of_its_embedded_board(host: str) -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e4")
        answer = await browser.client.get("/games/1", headers={"host": host, "accept": "text/html"})
        if answer.status_code == 200:
            page = Page(answer)
            frame = f'<iframe src="http://{host}/embed/1" width="420" height="590" title="Game 1"></iframe>'
            assert frame in page.text
            assert "<iframe" not in answer.text
            assert page.inline == []
        else:
            assert answer.status_code == 400
