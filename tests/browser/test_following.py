"""Pages in Chromium follow what others play: a game at speed, the lists of the home page, a contest."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import chess
import pytest

from gm_client.blocking import ContestReport
from tests.browser.chromium import Browsers, Locator, Page, expect
from tests.browser.games import BLACK, WHITE, chess_game, client_of
from tests.browser.playing import expect_board
from tests.http.pages.test_contests import MATCH
from tests.serving import Served

pytestmark = pytest.mark.slow

#: The fewest plies of a game that counts as long.
LONG = 100
#: The milliseconds after which a page that nobody looks at closes its stream, and between two looks at a contest; those
#: of ``live.js`` and ``contest.js``.
AWAY, LOOK = 30_000, 5_000


@cache
def long_game() -> chess.Board:
    """Return the first long game of random moves that ends in mate."""
    for seed in range(1_000):
        rng, board = random.Random(seed), chess.Board()
        while not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
        if board.is_checkmate() and board.ply() >= LONG:
            return board
    raise AssertionError("no seed leads to a long game")


def sans(board: chess.Board) -> list[str]:
    """Return the moves of a game in SAN."""
    replayed = board.root()
    return [replayed.san_and_push(move) for move in board.move_stack]


def play(site: Served, game_id: int, moves: Sequence[chess.Move], first: int = 0) -> None:
    """Play moves, from a ply on, as fast as the server answers."""
    with client_of(site) as client:
        for ply, move in enumerate(moves, first):
            client.move(game_id, move.uci(), player=BLACK if ply % 2 else WHITE)


def expect_game(page: Page, board: chess.Board) -> None:
    """Wait until a page shows a game: its position, all of its moves in order, and each of them once."""
    expect(page.get_by_label("FEN")).to_have_value(board.fen())
    listed = page.locator("#movetext [data-ply]")
    expect(listed).to_have_text(sans(board))
    plies = listed.evaluate_all("links => links.map((link) => Number(link.dataset.ply))")
    assert plies == list(range(1, board.ply() + 1))


def watched(browsers: Browsers, path: str, **options: Any) -> Page:
    """Open a page, and mark it, to see that it is not loaded again."""
    page = browsers.open(path, **options)
    page.evaluate("window.kept = true")
    return page


def expect_kept(*pages: Page) -> None:
    for page in pages:
        assert page.evaluate("window.kept") is True


def look_away(page: Page, state: str = "hidden") -> None:
    """Let a page believe that it is in the background; or, with ``visible``, that it is looked at again."""
    page.evaluate(
        """(state) => {
            Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def test_watchers_follow_a_game_at_speed_to_the_same_end(browsers: Browsers, site: Served) -> None:
    board, game_id = long_game(), chess_game(site, clock="600+0")
    pages = [watched(browsers, f"/games/{game_id}") for _ in range(2)]
    pages.append(watched(browsers, f"/games/{game_id}", device="telephone"))
    for page in pages:
        expect_board(page)
    play(site, game_id, board.move_stack)
    winner, result = ("Black", "0-1") if board.turn else ("White", "1-0")
    for page in pages:
        expect(page.locator(".status .outcome")).to_have_text(f"{result} {winner} won by checkmate.")
        expect_game(page, board)
        king = board.king(board.turn)
        assert king is not None
        check, cell = (
            page.locator(each).bounding_box()
            for each in ("square.check:visible", f"[data-square={chess.square_name(king)}]")
        )
        assert check is not None
        assert cell is not None
        assert abs(check["x"] - cell["x"]) + abs(check["y"] - cell["y"]) < 3
    expect_kept(*pages)
    pages[0].reload()
    expect(pages[0].get_by_label("FEN")).to_have_value(board.fen())


def test_page_in_the_background_reads_no_events_and_catches_up_when_it_is_looked_at(
    browsers: Browsers, site: Served
) -> None:
    board, game_id = long_game(), chess_game(site)
    page, other = browsers.open(), watched(browsers, f"/games/{game_id}")
    page.clock.install()
    streams = requests_of(page, "/events")
    page.goto(f"/games/{game_id}")
    page.evaluate("window.kept = true")
    play(site, game_id, board.move_stack[:10])
    shown = chess.Board()
    for move in board.move_stack[:10]:
        shown.push(move)
    expect_game(page, shown)

    look_away(page)
    look_away(page, "visible")  # before it has closed its stream
    page.clock.fast_forward(AWAY)
    assert len(streams) == 1
    look_away(page)
    with page.expect_event("requestfailed", lambda request: request.url == streams[0]):
        page.clock.fast_forward(AWAY)
    play(site, game_id, board.move_stack[10:], 10)
    expect_game(other, board)
    expect_game(page, shown)
    assert len(streams) == 1
    look_away(page, "visible")
    expect_game(page, board)
    assert [re.sub(".*/", "", stream) for stream in streams] == ["events?since=0", "events?since=10"]
    expect_kept(page, other)


def test_hidden_game_shows_its_watchers_nothing_but_the_end(browsers: Browsers, site: Served) -> None:
    game_id = chess_game(site, variant="rbc")
    page = watched(browsers, f"/games/{game_id}")
    expect_board(page)
    with client_of(site) as client:
        for ply, move in enumerate(("e2e4", "f7f6", "d1h5", "a7a6", "h5e8")):
            player = BLACK if ply % 2 else WHITE
            client.sense(game_id, None, player=player)
            assert client.move(game_id, move, player=player)["taken_move"] == move
    expect(page.locator(".status .outcome")).to_contain_text("1-0")
    expect_kept(page)
    page.get_by_role("link", name="See the whole game").click()
    expect(page.get_by_text("Ply 5 of 5", exact=True)).to_be_visible()


def test_lists_of_the_home_page_follow_the_games(browsers: Browsers, site: Served) -> None:
    page = watched(browsers, "/")
    lists = {name: page.locator(f"[data-list={name}]") for name in ("mine", "offered", "live", "finished")}
    with client_of(site) as client:
        game_id = client.new_game(WHITE, None)["game_id"]
        link = f"a[href='/games/{game_id}']"
        expect(lists["offered"].locator(link)).to_be_visible()
        client.join(game_id, player=BLACK)
        expect(lists["live"].locator(link)).to_be_visible()
        expect(lists["offered"].locator(link)).to_have_count(0)
        row = lists["live"].locator("tr", has=page.locator(link)).locator("td")
        expect(row.nth(2)).to_have_text("0")
        lists["live"].locator(link).focus()
        for ply, move in enumerate(("e4", "e5", "Nf3")):
            client.move(game_id, move, player=BLACK if ply % 2 else WHITE)
        expect(row.nth(2)).to_have_text("2")
        expect(lists["live"].locator(link)).to_be_focused()
        client.end_game(game_id, "resignation_white", player=WHITE)
        expect(lists["finished"].locator("tr", has=page.locator(link))).to_contain_text("0-1")
        expect(lists["live"].locator(link)).to_have_count(0)
    expect_kept(page)


def requests_of(page: Page, text: str) -> list[str]:
    """Return the list of the requests that a page makes from now on, if their addresses contain a text."""
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url) if text in request.url else None)
    return seen


def report(site: Served, token: str, **fields: object) -> int:
    """Report how a match stands; return its number."""
    with client_of(site) as client:
        return client.contest(token, cast(ContestReport, MATCH | fields))["contest_id"]


@pytest.fixture
def timed(browsers: Browsers) -> Page:
    """Open a window whose clock the test sets forward."""
    page = browsers.open()
    page.clock.install()
    return page


def open_contest(page: Page, site: Served, token: str) -> Locator:
    """Open the page of a match of which three games are played; return what says how it stands."""
    page.goto(f"/contests/{report(site, token)}")
    page.evaluate("window.kept = true")
    outcome = page.locator("#contest .outcome")
    expect(outcome).to_contain_text("3 of 10 games")
    return outcome


def test_page_of_a_contest_follows_it_while_it_runs_and_is_looked_at(timed: Page, site: Served) -> None:
    token, looks = "00112233445566aa", requests_of(timed, "part=1")
    outcome = open_contest(timed, site, token)
    report(site, token, games=4)
    timed.clock.fast_forward(LOOK)
    expect(outcome).to_contain_text("4 of 10 games")
    look_away(timed)
    report(site, token, games=5)
    timed.clock.fast_forward(10 * LOOK)
    assert len(looks) == 1
    look_away(timed, "visible")
    expect(outcome).to_contain_text("5 of 10 games")
    report(site, token, games=10, status="over")
    timed.clock.fast_forward(LOOK)
    expect(timed.locator("#contest [data-state=over]")).to_be_visible()
    timed.clock.fast_forward(10 * LOOK)
    assert len(looks) == 3
    expect_kept(timed)


def test_page_of_a_contest_keeps_the_focus_and_what_is_open(timed: Page, site: Served) -> None:
    token = "00112233445566bb"
    outcome = open_contest(timed, site, token)
    timed.get_by_text("The curves as a table").click()
    numbers = timed.get_by_role("rowheader", name="3", exact=True)
    expect(numbers).to_be_visible()
    places = [
        timed.locator("#contest summary"),
        timed.locator("#contest section").first,
        timed.get_by_role("link", name="Game 2", exact=True),
        timed.get_by_role("link", name="new", exact=True).last,
    ]
    for games, place in enumerate(places, 4):
        place.focus()
        report(site, token, games=games)
        timed.clock.fast_forward(LOOK)
        expect(outcome).to_contain_text(f"{games} of 10 games")
        expect(place).to_be_focused()
        expect(numbers).to_be_visible()
    expect_kept(timed)
