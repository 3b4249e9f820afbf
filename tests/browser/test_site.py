"""The pages for everybody in Chromium: home, signing in, errors; each is accessible in every look."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.browser.chromium import Browsers, Device, Page, Scheme, check_accessible, check_fits, expect
from tests.browser.games import BLACK, MATE, WHITE, chess_game, client_of, recon_game, recorded
from tests.browser.playing import choose
from tests.browser.populated import populated
from tests.serving import Served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def crowded() -> Iterator[tuple[Served, dict[str, str]]]:
    """Run a daemon with something to show on every page, and a name as long as names may be."""
    with populated("a_player_with_a_name_of_64_letters_" + "x" * 29) as found:
        yield found


def test_every_page_is_accessible_in_every_look(
    browsers: Browsers, crowded: tuple[Served, dict[str, str]], look: tuple[Device, Scheme]
) -> None:
    browsers.allow("status of 404")
    site, pages = crowded
    device, scheme = look
    page = browsers.open(address=site.http, device=device, scheme=scheme)
    for path in pages.values():
        page.goto(path)
        check_accessible(page)


#: The most pixels that one row of links takes.
ROW = 60


def test_telephone_has_one_row_of_links_and_the_others_in_a_menu(
    browsers: Browsers, crowded: tuple[Served, dict[str, str]]
) -> None:
    page = browsers.open("/", address=crowded[0].http, device="telephone", javascript=False)
    games = page.get_by_role("link", name="Games", exact=True)
    for press in (page.get_by_role("button", name="Menu").tap, lambda: page.keyboard.press("Enter")):
        expect(games).to_be_hidden()
        expect(page.locator("header.site")).to_have_js_property("scrollWidth", 390)
        assert page.locator("header.site").evaluate("header => header.offsetHeight") < ROW
        press()
        expect(games).to_be_visible()
        check_fits(page)
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Menu").focus()
    page.keyboard.press("Enter")
    games.tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("Games")


def test_desktop_has_all_links_in_one_row(browsers: Browsers) -> None:
    page = browsers.open("/")
    expect(page.get_by_role("button", name="Menu")).to_be_hidden()
    expect(page.get_by_role("link", name="Tournaments", exact=True)).to_be_visible()
    assert page.locator("header.site").evaluate("header => header.offsetHeight") < ROW


def test_missing_page_says_so_and_leads_home(browsers: Browsers, page: Page) -> None:
    browsers.allow("status of 404")
    page.goto("/nowhere")
    check_accessible(page)
    page.get_by_role("link", name="To the home page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Chess, and chess in the dark")


def test_visitor_registers_signs_out_and_in(browsers: Browsers, page: Page) -> None:
    browsers.allow("status of 40[13]")
    page.goto("/register")
    page.get_by_label("Name").fill("carol")
    page.get_by_label("Password, of").fill("correct horse")
    page.get_by_label("The same password again").fill("correct horse")
    page.get_by_role("button", name="Register").click()
    expect(page.locator(".account")).to_contain_text("Signed in as carol")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in", exact=True).first.click()
    page.get_by_label("Name").fill("carol")
    page.get_by_label("Password, or key").fill("wrong horse")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    check_accessible(page)
    page.get_by_label("Password, or key").fill("correct horse")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".account")).to_contain_text("Signed in as carol")


@pytest.mark.parametrize("javascript", [True, False])
def test_newcomer_has_a_game_against_a_bot_with_one_click(browsers: Browsers, javascript: bool) -> None:
    page = browsers.open("/", javascript=javascript)
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page).to_have_url(re.compile(r"/games/\d+$"))
    expect(page.get_by_role("main")).to_contain_text("minimax-beginner")


def shown_opponents(page: Page) -> list[str]:
    """Return the opponents that can be chosen."""
    return [each.inner_text() for each in page.locator(".opponents strong").all() if each.is_visible()]


@pytest.mark.parametrize("javascript", [True, False])
def test_form_shows_only_opponents_who_play_the_variant(browsers: Browsers, javascript: bool) -> None:
    page = browsers.open("/", javascript=javascript)
    assert shown_opponents(page) == ["A friend", "Random", "Beginner"]
    choose(page, "variant", "dark_chess")
    assert shown_opponents(page) == ["A friend", "Random"]
    if javascript:
        expect(page.locator("input[name=opponent]:checked").locator("..")).to_contain_text("Random")


def test_game_is_begun_by_the_keyboard_alone(browsers: Browsers, styled_page: Page) -> None:
    page = styled_page
    page.goto("/")
    checked = page.locator("input[name=variant]:checked")
    while not checked.evaluate("(radio) => radio === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # RBC
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    expect(page.locator("input[name=opponent]:checked").locator("..")).to_contain_text("Random")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # White
    for _ in range(3):  # the clock, the name, the button
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Reconnaissance blind chess")


def test_board_on_the_home_page_follows_its_game(browsers: Browsers, site: Served, styled_page: Page) -> None:
    game_id = chess_game(site, "e4", clock="600+0")
    page = styled_page
    page.goto("/")
    board = page.locator("[data-list=featured] img")
    expect(board).to_have_attribute("src", f"/games/{game_id}.svg?ply=1")
    with client_of(site) as client:
        client.move(game_id, "e5", player=BLACK)
        expect(board).to_have_attribute("src", f"/games/{game_id}.svg?ply=2")
        assert board.evaluate("(image) => image.complete && image.naturalWidth > 0")
        client.end_game(game_id, "resignation_white", player=WHITE)


def test_guest_has_a_name_leaves_and_comes_back(browsers: Browsers, styled_page: Page) -> None:
    page = styled_page
    page.goto("/")
    choose(page, "opponent", "link")
    page.get_by_label("Your name").fill("Kim")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("link", name="Kim (guest)").first.click()
    expect(page.get_by_text("A game of yours is not over.")).to_be_visible()
    check_accessible(page)
    page.get_by_role("button", name="Leave all the same").click()
    page.get_by_role("button", name="Come back as Kim (guest)").click()
    expect(page.locator(".account")).to_contain_text("Kim (guest)")


def test_code_to_embed_has_the_size_of_what_it_shows(browsers: Browsers, site: Served) -> None:
    for game_id in (chess_game(site, *MATE), recon_game(site, recorded(1))):
        page = browsers.open(f"/games/{game_id}")
        code = page.locator("#frame").input_value()
        width, height = (int(found) for found in re.findall(r'(?:width|height)="(\d+)"', code))
        frame = browsers.open(f"/embed/{game_id}", viewport={"width": width, "height": height})
        tall = frame.evaluate("document.documentElement.scrollHeight")
        used = frame.evaluate("document.querySelector('main').getBoundingClientRect().height")
        assert tall <= height, f"{tall} pixels in a frame of {height}"
        assert used >= height - 60, f"{used} pixels in a frame of {height}"
        check_fits(frame)


def test_home_page_is_light(browsers: Browsers, site: Served) -> None:
    chess_game(site, "e4")
    page = browsers.open()
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", 0))))
    page.goto("/", wait_until="load")
    assert len(sizes) <= 12
    assert sum(sizes) <= 100_000, sizes
