"""Pictures and files of games: their content, who may keep them, and what they cost the daemon."""

from __future__ import annotations

import io
import json

import chess
import chess.pgn
import chess.svg
import pytest

from tests.http.pages.browser import pages
from tests.http.pages.test_game_page import MATE, over, played

FILES = {"svg": "image/svg+xml", "png": "image/png", "pgn": "application/x-chess-pgn", "json": "application/json"}


@pytest.mark.parametrize("kind", FILES)
async def test_files_of_finished_games_are_kept_and_need_not_be_sent_again(kind: str) -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e2e4", "d7d5", variant="rbc")
        got = await browser.client.get(f"/games/1.{kind}")
        assert (got.status_code, got.headers["cache-control"]) == (200, "public, max-age=300")
        assert got.headers["content-type"].partition(";")[0] == FILES[kind]
        assert "Cookie" not in got.headers.get("vary", "")
        assert "set-cookie" not in got.headers
        for known in (got.headers["etag"], f'"x", {got.headers["etag"].removeprefix("W/")}', "*"):
            again = await browser.client.get(f"/games/1.{kind}", headers={"if-none-match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == got.headers["etag"]
        other = await browser.client.get(f"/games/1.{kind}", headers={"if-none-match": '"x"'})
        assert (other.status_code, other.content) == (200, got.content)


@pytest.mark.parametrize("kind", FILES)
async def test_files_of_live_games_are_kept_nowhere(kind: str) -> None:
    async with pages() as (daemon, browser):
        await played(daemon, "e4")
        got = await browser.client.get(f"/games/1.{kind}")
        assert (got.status_code, got.headers["cache-control"]) == (200, "no-store")
        assert "Cookie" in got.headers["vary"]
        assert "etag" not in got.headers


async def test_pgn_is_that_of_the_protocol() -> None:
    async with pages() as (daemon, browser):
        await played(daemon, *MATE)
        got = await browser.client.get("/games/1.pgn")
        assert got.text == (await daemon.ask("history", game_id=1))["pgn"]
        assert got.headers["content-disposition"] == 'attachment; filename="game-1.pgn"'
        game = chess.pgn.read_game(io.StringIO(got.text))
        assert game is not None
        assert game.end().board().is_checkmate()


async def test_json_of_a_finished_game_is_its_state_and_history() -> None:
    async with pages() as (daemon, browser):
        for variant in ("standard", "rbc", "dark_chess"):
            game_id = await over(daemon, "e2e4", "d7d5", variant=variant)
            got = (await browser.client.get(f"/games/{game_id}.json")).json()
            state = (await daemon.ask("state", game_id=game_id, brief=True))["state"]
            assert got == {"state": state, **await daemon.ask("history", game_id=game_id)}


async def test_json_of_a_live_blind_game_has_no_history() -> None:
    async with pages() as (daemon, browser):
        await played(daemon, "e2e4", variant="rbc")
        got = (await browser.client.get("/games/1.json")).json()
        assert got["state"] == (await daemon.ask("state", game_id=1, brief=True))["state"]
        assert (got["pgn"], got["moves"], got["history"]) == (None, None, None)
        assert "e2e4" not in json.dumps(got)


async def test_picture_shows_the_position_of_its_ply() -> None:
    async with pages() as (daemon, browser):
        await played(daemon, *MATE)
        for ply, fen in enumerate(
            [
                chess.STARTING_FEN,
                "rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - 0 1",
                "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2",
            ]
        ):
            drawn = (await browser.client.get(f"/games/1.svg?ply={ply}&size=123")).text
            assert f"<pre>{chess.Board(fen)}</pre>" in drawn
            assert 'width="123" height="123"' in drawn
        assert 'class="check"' in (await browser.client.get("/games/1.svg")).text
        assert 'class="check"' in (await browser.client.get("/games/1.svg?ply=4")).text
        assert 'class="check"' not in (await browser.client.get("/games/1.svg?ply=3")).text


async def test_views_of_a_finished_blind_game_differ_and_mark_the_window() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e2e4", "d7d5", variant="rbc")
        drawn = {}
        for view, sensed in (("truth", 9), ("white", 0), ("black", 9)):
            drawn[view] = (await browser.client.get(f"/games/1.svg?view={view}")).text
            assert drawn[view].count('fill="#3f7fd4"') == sensed
        counts = {
            view: (text.count('xlink:href="#white-'), text.count('xlink:href="#black-'), text.count('opacity="0.45"'))
            for view, text in drawn.items()
        }
        assert counts == {
            "truth": (16, 16, 0),
            "white": (16, 16, 16),
            "black": (17, 16, 16),
        }  # e4 is seen, e2 is remembered


async def test_pictures_may_be_shown_elsewhere_and_run_nothing() -> None:
    async with pages() as (daemon, browser):
        await played(daemon, "e4")
        headers = (await browser.client.get("/games/1.svg")).headers
        assert headers["cross-origin-resource-policy"] == "cross-origin"
        assert headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("kind", ["svg", "png"])
async def test_pictures_are_drawn_in_slices_and_charged_to_their_address(kind: str) -> None:
    async with pages(max_work_per_minute=1) as (daemon, browser):
        game_id = await played(daemon, "e4")
        before = daemon.arbiter.cpu_queue.slices
        assert (await browser.client.get(f"/games/{game_id}.{kind}")).status_code == 200
        assert daemon.arbiter.cpu_queue.slices > before
        answers = [await browser.client.get(f"/games/{game_id}.{kind}?size={size}") for size in (100, 200, 300)]
        assert answers[-1].status_code == 503
        assert int(answers[-1].headers["retry-after"]) >= 1


@pytest.mark.slow
async def test_picture_of_a_long_game_takes_many_slices() -> None:
    async with pages(max_plies=20_000, max_pgn=2**20, frame_timeout=600) as (daemon, browser):
        moves = " ".join(["Nf3 Nf6 Ng1 Ng8"] * 3_000)
        made = await daemon.ask("game_from_pgn", pgn=f"{moves} *", player_white=1, player_black=2)
        game_id = made["game_id"]
        daemon.arbiter.cpu_queue.slice_seconds = 0.0
        before = daemon.arbiter.cpu_queue.slices
        got = await browser.client.get(f"/games/{game_id}.svg?ply=11998")
        assert got.status_code == 200
        assert daemon.arbiter.cpu_queue.slices - before > 11_998 // 16
        page = await browser.get(f"/games/{game_id}?ply=6000")
        assert page.text.count("Nf3") == 100
