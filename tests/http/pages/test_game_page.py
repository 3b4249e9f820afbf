"""A game's page and its embedded form, over HTTP."""

from __future__ import annotations

import re

import pytest
from trio.testing import MockClock

from gmd.daemon import Daemon
from tests.http.pages.browser import ACCEPT, Browser, browsing, pages
from tests.http.pages.event_reader import pages_at_rest
from tests.http.pages.test_every_page import HEADERS, headers_of

PASSWORD = "correct horse"
MATE = ("f3", "e5", "g4", "Qh4#")


async def played(daemon: Daemon, *moves: str, white: int = 1, black: int = 2, **options: object) -> int:
    """Return a game of two open ids in which some moves were played; each turn of rbc senses e5 first."""
    game_id: int = (await daemon.ask("new_game", player_white=white, player_black=black, **options))["game_id"]
    for ply, move in enumerate(moves):
        player = black if ply % 2 else white
        if options.get("variant") == "rbc":
            await daemon.ask("sense", game_id=game_id, player=player, square="e5")
        await daemon.ask("move", game_id=game_id, player=player, move=move)
    return game_id


async def over(daemon: Daemon, *moves: str, **options: object) -> int:
    """Return such a game that White has resigned."""
    game_id = await played(daemon, *moves, **options)
    await daemon.ask("end_game", game_id=game_id, player=1, termination="resignation_white")
    return game_id


async def signed_in(daemon: Daemon, browser: Browser, name: str) -> int:
    """Register a player and sign it in; return its id."""
    player: int = (await daemon.ask("register", name=name, password=PASSWORD))["player"]
    form = (await browser.get("/sign-in")).form("/sign-in")
    await browser.submit(form, name=name, password=PASSWORD)
    return player


async def blind_game(daemon: Daemon, browser: Browser, *, ended: bool = False) -> int:
    """Return a game of rbc of two turns, White of which is the browser's visitor."""
    white = await signed_in(daemon, browser, "ann")
    key = (await daemon.ask_as_operator("rekey", player=white))["key"]
    form = (await browser.get("/sign-in")).form("/sign-in")
    await browser.submit(form, name="ann", password=key)
    fields = {"player": white, "key": key}
    made = await daemon.ask("new_game", player_white=white, player_black=2, variant="rbc", **fields)
    game_id: int = made["game_id"]
    await daemon.ask("sense", game_id=game_id, square="e7", **fields)
    await daemon.ask("move", game_id=game_id, move="e2e4", **fields)
    await daemon.ask("sense", game_id=game_id, player=2, square="e3")
    await daemon.ask("move", game_id=game_id, player=2, move="d7d5")
    if ended:
        await daemon.ask("end_game", game_id=game_id, player=2, termination="resignation_black")
    return game_id


async def test_finished_game_is_shown_with_players_moves_result_and_links(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, browser):
        game_id = await played(daemon, *MATE, clock="600+0")
        page = await browser.get(f"/games/{game_id}")
        for words in ("Chess, game 1", "0-1 Black won by checkmate.", "Guest 1", "Guest 2", "10:00", "Qh4#"):
            assert words in page.text
        for ply in range(1, 4):
            assert f"/games/1?ply={ply}" in page.links
        assert {"/games/1.pgn", "/games/1.json", "/embed/1"} <= set(page.links)
        assert 'value="rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"' in page.response.text
        assert re.findall(r'data-ply="4" aria-current="step">([^<]*)<', page.response.text) == ["Qh4#"]


async def test_ply_in_the_query_is_shown_without_a_script() -> None:
    async with pages() as (daemon, browser):
        await played(daemon, *MATE)
        page = await browser.get("/games/1?ply=1&flip=1")
        assert "Ply 1 of 4" in page.text
        assert "/games/1.svg?ply=1&flip=1&size=480" in page.sources
        assert {"/games/1?ply=0&flip=1", "/games/1?ply=2&flip=1", "/games/1?ply=1"} <= set(page.links)
        assert "rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - 0 1" in page.response.text


@pytest.mark.slow
async def test_every_link_and_picture_of_a_game_page_is_there() -> None:
    async with pages() as (daemon, browser):
        await played(daemon, *MATE)
        await over(daemon, "e2e4", "d7d5", "e4d5", variant="rbc")
        await played(daemon, "e4", variant="crazyhouse")
        await played(daemon, "e2e4", variant="dark_chess")
        for path in (
            "/games/1",
            "/games/2",
            "/games/2?view=white&ply=2",
            "/games/3",
            "/games/4",
            "/embed/1",
            "/embed/2",
        ):
            page = await browser.get(path)
            assert page.status == 200
            assert page.inline == []
            assert len(page.ids) == len(set(page.ids))
            for address in {*page.links, *page.sources}:
                if not address.startswith(("#", "https://lichess.org/analysis/")):
                    assert (await browser.get(address)).status == 200, address


async def test_page_has_the_headers_of_every_page_and_is_not_stored_while_the_game_is_played() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e4")
        await played(daemon, "e4")
        for path in ("/games/1", "/games/1?ply=1", "/games/2", "/games/2?part=1"):
            kept = "private, no-cache" if "/1" in path else "no-store"
            answer = (await browser.get(path)).response
            assert headers_of(answer) == {**HEADERS, "cache-control": kept}


async def test_part_for_scripts_is_a_part_of_the_page() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e2e4", "d7d5", variant="rbc")
        for query in ("?ply=1", "?ply=2&view=black", "?ply=0&flip=1"):
            whole = await browser.get(f"/games/1{query}")
            part = await browser.get(f"/games/1{query}&part=1")
            assert part.response.text.strip() in whole.response.text
            assert "<html" not in part.response.text


async def test_finished_blind_game_shows_what_each_side_saw_and_was_told() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e2e4", "d7d5", "e4d5", variant="rbc")
        page = await browser.get("/games/1?ply=3")
        assert "Asked for e4d5: e4d5 was made and captured a piece on d5." in page.text
        assert "Sensed around e5 and saw a pawn on d5." in page.text
        assert "The opponent captured the piece on d5." in page.text
        for title in ("The truth", "White’s view", "Black’s view"):
            assert title in page.text
        one = await browser.get("/games/1?ply=3&view=black")
        assert "Sensed around" not in one.text


async def test_visitor_of_a_blind_game_sees_nothing_of_it_and_a_player_its_own_view() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        game_id = await blind_game(daemon, browser)
        mine, theirs = await browser.get(f"/games/{game_id}"), await other.get(f"/games/{game_id}")
        assert "Your view" in mine.text
        assert "Asked for e2e4: e2e4 was made." in mine.text
        assert "Sensed around e7 and saw" in mine.text
        assert "8/8/8/8/4P3/8/PPPP1PPP/RNBQKBNR" in mine.response.text
        assert "This game is hidden from spectators until it is over." in theirs.text
        for hidden in ("e2e4", "4P3", "Sensed", "FEN"):
            assert hidden not in theirs.response.text
        drawn = (await browser.client.get(f"/games/{game_id}.svg")).text
        assert (drawn.count('xlink:href="#white-'), drawn.count('xlink:href="#black-')) == (16, 16)
        assert drawn.count('opacity="0.45"') == 16  # remembered: it is White's next turn
        assert 'href="#' not in (await other.client.get(f"/games/{game_id}.svg")).text


async def test_operator_lets_spectators_see_live_games_in_full() -> None:
    async with pages(spectate="live") as (daemon, browser):
        await played(daemon, "e2e4", "d7d5", variant="rbc")
        page = await browser.get("/games/1")
        assert "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR" in page.response.text
        assert 'href="#black-queen"' in (await browser.client.get("/games/1.svg")).text


async def test_player_of_both_seats_looks_from_the_one_that_it_names() -> None:
    async with pages() as (daemon, browser):
        form = (await browser.get("/")).form("/play", variant="rbc")
        page = await browser.submit(form, opponent="link", color="white")
        game_id = int(page.path.rpartition("/")[2])
        white = (await daemon.ask("state", game_id=game_id))["state"]["player_white"]
        await daemon.ask("join", player=white, game_id=game_id, seat="black")
        white_sees, black_sees = "8/8/8/8/8/8/PPPPPPPP/RNBQKBNR", "rnbqkbnr/pppppppp/8/8/8/8/8/8"
        for query, shown in (("", white_sees), ("?view=white", white_sees), ("?view=black", black_sees)):
            page = await browser.get(f"/games/{game_id}{query}")
            assert f'"fen": "{shown} ' in page.response.text  # for the script
            drawn = (await browser.client.get(f"/games/{game_id}.svg{query}")).text
            for side, sees in (("white", white_sees), ("black", black_sees)):
                place = re.escape("translate(0, 315)" if side == "white" else "translate(0, 0)")
                faded = re.search(f'#{side}-rook" transform="{place}" opacity', drawn) is not None
                assert faded == (shown != sees)


#: Addresses of what cannot be shown, the status, and what the page says.
NOT_SHOWN = [
    ("/games/9", 404, "There is no game 9"),
    ("/games/99999999999999999999", 404, "no page"),
    ("/games/9007199254740993", 404, "no game"),
    ("/games/x", 404, "There is no page /games/x."),
    ("/games/1.gif", 404, "no page"),
    ("/games/1_0", 404, "no page"),
    ("/games/-1", 404, "no page"),
    ("/games/1?ply=3", 400, "The game has no ply 3 yet; choose 0 to 1."),
    ("/games/1?ply=-1", 400, "Expected"),
    ("/games/1?ply=x", 400, "Expected"),
    ("/games/1?view=everything", 400, "'everything' is none of truth, white, black."),
    ("/games/1.svg?size=99999", 400, "Expected"),
    ("/games/2?ply=0", 409, "Game 2 is not over: earlier plies are shown once it is over."),
    ("/games/2.pgn", 409, "Game 2 is not over"),
    ("/embed/9", 404, "There is no game 9"),
]


async def test_what_cannot_be_shown_is_said_in_words() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e4")
        await played(daemon, "e2e4", variant="rbc")
        for path, status, words in NOT_SHOWN:
            page = await browser.get(path)
            assert (page.status, page.response.headers["content-type"]) == (status, "text/html; charset=utf-8")
            assert words.lower() in page.text.lower()
            program = await browser.client.get(path)
            assert (program.status_code, program.headers["content-type"]) == (status, "application/json")
            assert program.json()["error"]


async def test_embedded_board_may_be_framed_by_any_site() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e4", "e5")
        await played(daemon, "e4")
        page = await browser.get("/embed/1?ply=1")
        headers = page.response.headers
        assert headers["content-security-policy"].endswith("frame-ancestors *")
        assert "x-frame-options" not in headers
        assert headers["cache-control"] == "public, max-age=300"
        assert {"/embed/1?ply=0", "/embed/1?ply=2", "/games/1?ply=1"} <= set(page.links)
        again = await browser.client.get("/embed/1?ply=1", headers={"accept": ACCEPT, "if-none-match": headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert (await browser.client.get("/embed/1?ply=2")).headers["etag"] != headers["etag"]
        live = (await browser.get("/embed/2")).response.headers
        assert (live["cache-control"], live.get("etag")) == ("no-store", None)


async def test_names_are_escaped() -> None:
    async with pages() as (daemon, browser):
        await played(daemon, "e4")
        page = await browser.get('/games/1?view="><script>')
        assert page.status == 400
        assert "<script>" not in page.response.text
