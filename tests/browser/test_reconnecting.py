"""The daemon is killed in the middle of a game and started again: the pages in Chromium go on by themselves."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import chess
import pytest

from gm_client.blocking import Client
from tests.browser.chromium import Browser, Browsers, Page, expect
from tests.browser.conftest import site_environment
from tests.browser.games import BLACK, chess_game, client_of
from tests.browser.playing import (
    click_move,
    expect_board,
    open_play,
    press,
    resign,
    seen_on,
    sense_around,
    square,
    type_move,
)
from tests.serving import Served, reserved_port, served

pytestmark = pytest.mark.slow

#: What Chromium reports while nothing listens, and when a connection breaks.
LOST = r"net::ERR_(CONNECTION_|EMPTY_RESPONSE|INCOMPLETE_|SOCKET_|NETWORK_|FAILED)|status of 503"


class Host:
    """A machine on which a daemon is killed and started again, on the same data and ports.

    :ivar site: the daemon that ran last.
    """

    site: Served

    def __init__(self, stack: ExitStack, data: Path) -> None:
        self._stack = stack
        self._port, http_port = (stack.enter_context(reserved_port()) for _ in range(2))
        self._environment = site_environment(data=str(data), http_port=str(http_port))
        self.start()

    def start(self) -> None:
        """Start a daemon."""
        self.site = self._stack.enter_context(served("--port", str(self._port), env=self._environment))

    def kill(self) -> None:
        """Kill the daemon, which has no time to save or to say anything."""
        self.site.stop(signal.SIGKILL)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with ExitStack() as stack:
        yield Host(stack, tmp_path / "data")


@pytest.fixture
def browsers(chromium: Browser, host: Host) -> Iterator[Browsers]:
    """Return a factory of windows on the host's pages, which may report that it is away."""
    opened = Browsers(chromium, host.site.http)
    opened.allow(LOST)
    yield opened
    opened.close()


def game_of(page: Page) -> int:
    return int(page.url.rpartition("/")[2])


def keep(*pages: Page) -> None:
    """Mark pages, to see that they are not loaded again."""
    for page in pages:
        page.evaluate("window.kept = true")


def expect_kept(*pages: Page) -> None:
    for page in pages:
        assert page.evaluate("window.kept") is True


def expect_chess(*pages: Page, board: chess.Board) -> None:
    """Wait until pages show a game of chess: its position, and all of its moves in order."""
    replayed, said = chess.Board(), []
    for move in board.move_stack:
        said.append(replayed.san_and_push(move))
    for page in pages:
        expect(page.get_by_label("FEN")).to_have_value(board.fen())
        expect(page.locator("#movetext [data-ply]")).to_have_text(said)


def test_game_of_chess_goes_on_after_the_daemon_is_killed_and_started_again(host: Host, browsers: Browsers) -> None:
    white, watcher, board = browsers.open(), browsers.open(), chess.Board()
    open_play(white, "Play by a link to share")
    game_id = game_of(white)
    with client_of(host.site) as client:
        client.join(game_id, player=BLACK)
    watcher.goto(f"/games/{game_id}")
    expect_board(watcher)
    keep(white, watcher)

    def answer(san: str) -> None:
        """Wait until Black is to move, as a bot does, and move."""
        with client_of(host.site) as client:
            client.wait(game_id, player=BLACK)
            client.move(game_id, san, player=BLACK)
        board.push_san(san)

    click_move(white, board.push_san("e4"))
    answer("e5")
    expect_chess(white, watcher, board=board)
    type_move(white, board.push_san("Nf3"))
    expect_chess(white, watcher, board=board)

    host.kill()
    host.start()
    answer("Nc6")
    expect_chess(white, watcher, board=board)

    host.kill()
    move = board.push_san("Bb5")
    type_move(white, move)
    expect(white.get_by_role("alert")).to_contain_text("The server cannot be reached")
    expect(white.get_by_label("Your move")).to_have_value(move.uci())
    host.start()
    white.get_by_label("Your move").press("Enter")
    expect(white.get_by_role("alert")).to_be_hidden()
    expect_chess(white, watcher, board=board)

    answer("a6")
    expect_chess(white, watcher, board=board)
    click_move(white, board.push_san("Bxc6"))
    expect_chess(white, watcher, board=board)
    resign(white)
    expect(watcher.locator(".status .outcome")).to_have_text("0-1 Black won by resignation.")
    expect_kept(white, watcher)
    with client_of(host.site) as client:
        state = client.state(game_id)["state"]
    assert (state["result"], state["ply_index"]) == ("0-1", board.ply())


def show_aid_and_mark_a5(page: Page) -> None:
    """Have the page of a player of blind chess show possible squares of enemies, and suspect a queen on a5."""
    page.get_by_role("button", name="Show where enemies may stand").click()
    expect(page.locator("#aid-words")).to_contain_text("1 position is possible")
    page.get_by_role("button", name="Mark a queen").click()
    press(page, "a5")
    page.get_by_role("button", name="Mark a queen").click()


def test_blind_game_goes_on_with_what_the_player_observed_and_has_marked(host: Host, browsers: Browsers) -> None:
    page = browsers.open()
    open_play(page, "Play by a link to share", "Reconnaissance blind chess")
    game_id = game_of(page)
    observed, aid = page.locator(".observed li"), page.locator("#aid-words")

    def restart() -> None:
        host.kill()
        host.start()

    def black_turn(client: Client, sense: str, move: str) -> None:
        client.wait(game_id, player=BLACK)
        client.sense(game_id, sense, player=BLACK)
        client.move(game_id, move, player=BLACK)

    with client_of(host.site) as client:
        client.join(game_id, player=BLACK)
    expect(page).to_have_title(re.compile("^Your turn"))
    keep(page)
    show_aid_and_mark_a5(page)
    sense_around(page, "e5")
    expect(observed).to_have_text(["Sensed around e5 and saw no piece of the opponent."])
    type_move(page, chess.Move.from_uci("e2e4"))
    expect(observed.last).to_have_text("Asked for e2e4: e2e4 was made.")
    with client_of(host.site) as client:
        black_turn(client, "e4", "d7d5")
    sense_around(page, "e7")
    expect(observed.last).to_contain_text("Sensed around e7")
    said = observed.all_inner_texts()

    restart()  # between a sense and a move
    type_move(page, chess.Move.from_uci("a2a3"))
    expect(observed).to_have_text([said[-1], "Asked for a2a3: a2a3 was made."])

    restart()  # while Black thinks
    with client_of(host.site) as client:
        black_turn(client, "e4", "d5e4")
    expect(observed.filter(has_text="The opponent captured the piece on e4.")).to_be_visible()
    expect(square(page, "e4")).not_to_have_attribute("aria-label", re.compile("pawn"))
    expect(square(page, "a5")).to_have_attribute("data-suspect", "♛")
    expect(square(page, "e4")).to_have_class(re.compile("possible"))
    expect_kept(page)
    said, seen, possible = observed.all_inner_texts(), seen_on(page), aid.inner_text()

    restart()  # and the page is opened anew
    page.reload()
    expect_board(page)
    expect(observed).to_have_text(said)
    assert seen_on(page) == seen
    expect(square(page, "a5")).to_have_attribute("data-suspect", "♛")
    page.get_by_role("button", name="Show where enemies may stand").click()
    expect(aid).to_have_text(possible)
    sense_around(page, "e4")
    expect(observed.last).to_have_text("Sensed around e4 and saw a pawn on e4.")
    type_move(page, chess.Move.from_uci("d2d3"))
    expect(observed.last).to_have_text("Asked for d2d3: d2d3 was made.")


def test_lists_of_the_home_page_go_on_after_the_daemon_is_killed_and_started_again(
    host: Host, browsers: Browsers
) -> None:
    before = chess_game(host.site, "e4")
    page = browsers.open("/")
    live = page.locator("[data-list=live]")
    expect(live.locator(f"a[href='/games/{before}']")).to_be_visible()
    keep(page)
    host.kill()
    host.start()
    after = chess_game(host.site, "d4")
    for game_id in (after, before):
        expect(live.locator(f"a[href='/games/{game_id}']")).to_be_visible()
    expect_kept(page)


def test_page_says_that_it_reconnects_until_the_daemon_is_there_again(host: Host, browsers: Browsers) -> None:
    page = browsers.open()
    open_play(page, "Play by a link to share")
    lost = page.locator("#lost")
    expect(lost).to_be_hidden()
    page.evaluate(
        """() => new MutationObserver(() => { window.lostAt ??= performance.now(); })
            .observe(document.getElementById("lost"), { attributes: true })"""
    )
    before = page.evaluate("performance.now()")
    host.kill()
    took = page.evaluate("performance.now()") - before
    expect(lost).to_be_visible()
    assert page.evaluate("lostAt") - before - took < 2_000
    expect(lost).to_have_text("Reconnecting…")
    host.start()
    expect(lost).to_be_hidden()
