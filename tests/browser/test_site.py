"""The pages for everybody in Chromium: home, signing in, errors; each is accessible in every look."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.browser.chromium import Browsers, Device, Page, Scheme, check_accessible, expect
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


def test_missing_page_says_so_and_leads_home(browsers: Browsers, page: Page) -> None:
    browsers.allow("status of 404")
    page.goto("/nowhere")
    check_accessible(page)
    page.get_by_role("link", name="To the home page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Play and watch")


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
    page.get_by_role("button", name="Play minimax-beginner").first.click()
    expect(page).to_have_url(re.compile(r"/games/\d+$"))
    expect(page.get_by_role("main")).to_contain_text("minimax-beginner")
