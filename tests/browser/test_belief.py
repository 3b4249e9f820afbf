"""What players of blind chess can know, in Chromium: the aid of a game in progress, and a finished one."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import chess
import pytest

from gm_client.blocking import connect
from gmd.net.listening import SOCKET_NAME
from tests.browser.chromium import Browser, Browsers, Device, Locator, Page, Scheme, check_accessible, expect
from tests.browser.conftest import site_environment
from tests.browser.games import BLACK, MATE, blind_game, chess_game, client_of
from tests.browser.playing import expect_board, open_play, press, sense_around, square, type_move
from tests.browser.populated import BLIND, PASSWORD
from tests.serving import Served, served

pytestmark = pytest.mark.slow

AID = "Show where enemies may stand"


@pytest.fixture(scope="module")
def blind(site: Served) -> int:
    return blind_game(site, BLIND)


def alone(page: Page, site: Served) -> int:
    """Begin a game of blind chess, in which the test plays Black; return its id."""
    open_play(page, "Play by a link to share", "Reconnaissance blind chess")
    game_id = int(page.url.rpartition("/")[2])
    with client_of(site) as client:
        client.join(game_id, player=BLACK)
    return game_id


def turn(page: Page, site: Served, game_id: int, sense: str, move: str, reply: str) -> None:
    """Play White's turn on the page, and Black's."""
    sense_around(page, sense)
    type_move(page, chess.Move.from_uci(move))
    with client_of(site) as client:
        client.wait(game_id, player=BLACK)
        client.sense(game_id, None, player=BLACK)
        client.move(game_id, reply, player=BLACK)


def tab_to(page: Page, wanted: Locator) -> None:
    """Reach a control by the tabulator key alone."""
    for _ in range(60):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail("the tabulator key does not lead there")


def shades(page: Page, board: int = 0) -> dict[str, str]:
    """Return what is said of the shaded squares of a board."""
    cells = page.locator(".cells").nth(board).locator(".cell.possible")
    return dict(cells.evaluate_all("all => all.map((cell) => [cell.dataset.square, cell.dataset.chance])"))


def test_aid_is_used_by_the_keyboard_alone_in_every_look(styled_page: Page, site: Served) -> None:
    page = styled_page
    game_id = alone(page, site)
    turn(page, site, game_id, "e5", "e2e4", "g8f6")
    tab_to(page, page.get_by_role("button", name=AID))
    page.keyboard.press("Enter")
    expect(page.locator("#aid-words")).to_have_text("21 positions are possible.")
    expect(square(page, "f6")).to_have_attribute("aria-label", re.compile("enemy 10 %"))
    expect(square(page, "g8")).to_have_attribute("data-percent", "90")
    expect(square(page, "e8")).to_have_attribute("aria-label", re.compile("enemy 100 %"))
    expect(square(page, "d4")).not_to_have_class(re.compile("possible"))

    tab_to(page, page.get_by_role("button", name="Show where a knight may be"))
    page.keyboard.press("Enter")
    expect(square(page, "f6")).to_have_attribute("aria-label", re.compile("knight 5 %"))
    assert set(shades(page)) == {"b8", "g8", "a6", "c6", "f6", "h6"}
    expect(page.locator("#aid-places")).to_have_text("♞ b8 90 %, g8 90 %, a6 5 %, c6 5 %, f6 5 %, h6 5 %")
    check_accessible(page)

    square(page, "d4").focus()
    page.keyboard.press("Home")
    expect(page.locator("#place.past")).to_have_count(1)
    assert shades(page) == {}, "an earlier turn has no belief of the present"
    page.keyboard.press("Escape")
    expect(page.locator("#place.past")).to_have_count(0)
    assert "f6" in shades(page)

    hint = page.get_by_role("button", name="Suggest a sense")
    expect(hint).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#hint-words")).to_be_empty()
    tab_to(page, hint)
    page.keyboard.press("Space")
    expect(page.locator("#hint-words")).to_have_text(
        re.compile(r"A sense of [a-h]\d would tell most: .* 21 positions.")
    )
    expect(page.locator(".cell.hint")).to_have_count(1)
    check_accessible(page)
    sense_around(page, "f6")
    expect(page.locator("#aid-words")).to_have_text("1 position is possible.")
    expect(page.locator(".cell.hint")).to_have_count(0)
    expect(page.locator("#hint-words")).to_have_text("A sense is suggested when it is your turn to sense.")
    page.get_by_role("button", name=AID).click()
    assert shades(page) == {}
    expect(hint).to_be_hidden()


def test_ranked_game_offers_no_hint(chromium: Browser) -> None:
    with tempfile.TemporaryDirectory() as data, served(env=site_environment(data=data)) as site:
        with connect(path=str(Path(data, SOCKET_NAME))) as operator, client_of(site) as client:
            made = {name: client.register(name, password=PASSWORD) for name in ("ann", "bob")}
            players = {name: {"player": each["player"], "key": each["key"]} for name, each in made.items()}
            for player in players.values():
                client.settings(version=1, **player)
            game_id = operator.pair("ann", "bob", variant="rbc", ranked=True)["game_id"]
            for player in players.values():
                client.accept(game_id, **player)
        browsers = Browsers(chromium, site.http)
        page = browsers.open(f"/sign-in?next=/games/{game_id}")
        page.get_by_label("Name").fill("ann")
        page.get_by_label(re.compile("^Password")).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect_board(page)
        page.get_by_role("button", name=AID).click()
        expect(page.locator("#aid-words")).to_have_text("1 position is possible.")
        expect(page.locator("#hint")).to_be_hidden()
        browsers.close()


def test_sense_takes_the_marks_of_its_squares_away_but_not_those_made_after_it(page: Page, site: Served) -> None:
    game_id = alone(page, site)
    for piece, name in (("queen", "d5"), ("king", "e7")):
        page.get_by_role("button", name=f"Mark a {piece}").click()
        press(page, name)
    page.get_by_role("button", name="Mark a king").click()
    sense_around(page, "e7")
    expect(square(page, "e7")).not_to_have_attribute("data-suspect", "♚")
    expect(square(page, "d5")).to_have_attribute("data-suspect", "♛")
    page.get_by_role("button", name="Mark a rook").click()
    press(page, "e6")
    page.get_by_role("button", name="Mark a rook").click()
    expect(square(page, "e6")).to_have_attribute("data-suspect", "♜")
    page.reload()
    expect_board(page)
    expect(square(page, "e6")).to_have_attribute("data-suspect", "♜")
    type_move(page, chess.Move.from_uci("e2e4"))
    with client_of(site) as client:
        client.wait(game_id, player=BLACK)
        client.sense(game_id, None, player=BLACK)
        client.move(game_id, None, player=BLACK)
    expect(page).to_have_title(re.compile("^Your turn"))
    expect(square(page, "e6")).to_have_attribute("data-suspect", "♜")
    sense_around(page, "e5")
    expect(square(page, "e6")).not_to_have_attribute("data-suspect", "♜")
    expect(square(page, "d5")).not_to_have_attribute("data-suspect", "♛")


def test_replay_shades_what_each_side_could_know_in_every_look(
    browsers: Browsers, look: tuple[Device, Scheme], blind: int
) -> None:
    device, scheme = look
    page = browsers.open(f"/games/{blind}?ply=2", device=device, scheme=scheme)
    expect(page.locator("figure .place")).to_have_count(3)
    page.get_by_role("link", name="Knight", exact=True).press("Enter")
    expect(page.locator("nav [aria-current]", has_text="Knight")).to_be_visible()
    expect(page.locator("figure .place")).to_have_count(3)
    assert shades(page) == {}, "the truth has no shades"
    assert set(shades(page, 1)) == {"b8", "g8", "a6", "c6", "f6", "h6"}
    words = page.locator("#position")
    expect(words).to_contain_text("21 positions are possible.")
    expect(words).to_contain_text("Black’s knights: b8 90 %, g8 90 %, a6 5 %, c6 5 %, f6 5 %, h6 5 %.")
    expect(words).to_contain_text(re.compile(r"The next sense left 1\."))
    check_accessible(page)
    page.locator("body").press("ArrowRight")
    expect(page.get_by_text("Ply 3 of")).to_be_visible()
    expect(words).to_contain_text("White’s knights:")
    assert shades(page, 1) == {"b8": "enemy 100 %", "g8": "enemy 100 %"}


def test_replay_shows_the_same_without_javascript(browsers: Browsers, blind: int) -> None:
    page = browsers.open(f"/games/{blind}?ply=2&view=white&belief=k", javascript=False)
    image = page.locator("figure.board img")
    expect(image).to_have_attribute("src", re.compile(r"belief=k"))
    expect(image).to_have_js_property("complete", True)
    expect(page.locator("#position")).to_contain_text("Black’s king: e8 100 %.")
    page.get_by_role("link", name="Off").click()
    expect(page.locator("#position")).not_to_contain_text("positions")


def test_story_of_a_blind_game_lists_its_surprises_and_leads_to_them(page: Page, blind: int) -> None:
    page.goto(f"/games/{blind}?belief=any")
    page.locator("summary", has_text="The story of its information").press("Enter")
    first = page.locator(".surprises li").first
    expect(first).to_contain_text(re.compile(r"(White|Black) saw .* possible positions\."))
    check_accessible(page)
    link = first.get_by_role("link")
    ply = link.get_attribute("data-ply")
    link.press("Enter")
    expect(page.get_by_text(f"Ply {ply} of {len(BLIND)}")).to_be_visible()
    assert shades(page, 1)


def test_finished_chess_has_a_link_to_lichess(page: Page, site: Served) -> None:
    page.goto(f"/games/{chess_game(site, *MATE)}")
    link = page.get_by_role("link", name="Analyse on lichess")
    expect(link).to_have_attribute("href", "https://lichess.org/analysis/pgn/f3_e5_g4_Qh4%23#4")
    page.locator("body").press("ArrowLeft")
    expect(link).to_have_attribute("href", "https://lichess.org/analysis/pgn/f3_e5_g4_Qh4%23#3")
    crazyhouse = chess_game(site, *MATE, variant="crazyhouse")
    page.goto(f"/games/{crazyhouse}?ply=0")
    start = chess.STARTING_FEN.replace(" w", "[] w").replace(" ", "_")
    expect(link).to_have_attribute("href", f"https://lichess.org/analysis/crazyhouse/{start.replace('[]', '%5B%5D')}")
    page.goto(f"/games/{chess_game(site, 'e4')}?ply=1")
    expect(link).to_have_count(0)
