"""Forms from other sites, from pages that are out of date, and that are no forms."""

from __future__ import annotations

import httpx
import pytest

from gmd.http.pages.forms import MAX_BYTES, MAX_FIELDS
from gmd.http.pages.sign_in import safe_path
from tests.http.pages.browser import ACCEPT, PAGE_PATHS, Browser, Page, browsing, pages

LINK = {"opponent": "link", "color": "white"}
FORM = "application/x-www-form-urlencoded"
#: Every route that takes a form, about game 1 if about one.
POSTED = [path.replace("{game_id}", "1") for method, path in PAGE_PATHS if method == "POST"]

MULTIPART = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--x--\r\n'
NO_FORM = "A form is sent as application/x-www-form-urlencoded."
OTHER_SITE = "This form was sent from another site"


async def raw(browser: Browser, path: str, content: bytes, kind: str = FORM) -> httpx.Response:
    headers = {"accept": ACCEPT} | ({"content-type": kind} if kind else {})
    return await browser.client.post(path, content=content, headers=headers)


#: What a browser says of a form that another site sends.
ELSEWHERE = [
    {"origin": "https://example.com"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1"},
    {"origin": "http://[::1"},
    {"origin": "http://127.0.0.1@example.com"},
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
    {"sec_fetch_site": "none"},
]


async def test_form_from_another_site_is_refused_with_the_cookie_and_without() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as nobody:
        await browser.submit((await browser.get("/")).form("/play", variant="rbc"), opponent="link")
        token = (await browser.get("/")).form("/play", variant="rbc").fields["csrf"]
        for path, headers in [*(("/play", each) for each in ELSEWHERE), *((path, ELSEWHERE[0]) for path in POSTED)]:
            for who, fields in ((nobody, LINK), (browser, {**LINK, "csrf": token})):
                refused = await who.post(path, fields, **headers)
                assert (refused.status_code, OTHER_SITE in refused.text) == (403, True), (path, headers)
                assert "set-cookie" not in refused.headers
        assert len((await daemon.ask("games"))["games"]) == 1


async def test_browser_that_knows_the_site_is_believed_behind_a_proxy_that_changes_the_host() -> None:
    async with pages() as (_, browser):
        answer = await browser.post("/play", LINK, origin="https://chess.example", sec_fetch_site="same-origin")
        assert answer.history[0].status_code == 303


async def test_form_needs_the_token_of_its_visitor() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        for each in (browser, other):
            await each.submit((await each.get("/")).form("/play", variant="rbc"), opponent="link")
        own, others = [(await each.get("/")).form("/play", variant="rbc").fields["csrf"] for each in (browser, other)]
        assert own != others
        for token in ("", others, own[:-1], "é"):
            refused = await browser.post("/play", {**LINK, "csrf": token})
            assert refused.status_code == 403
            assert "This page is out of date, because you have signed in or out since: load it again." in refused.text
        assert (await browser.post("/play", {**LINK, "csrf": own})).history[0].status_code == 303


async def test_program_without_a_cookie_may_post_a_form() -> None:
    """It has no rights that another site could use."""
    async with pages() as (_, browser):
        answer = await raw(browser, "/play", b"opponent=link")
        assert answer.history[0].status_code == 303


#: Forms that cannot be used, and a part of the refusal.
UNUSABLE = [
    (b'{"opponent": "link"}', "application/json", NO_FORM),
    (b"opponent=link", "text/plain", NO_FORM),
    (b"opponent=link", "", NO_FORM),
    (MULTIPART, "multipart/form-data; boundary=x", NO_FORM),
    (b"opponent=" + b"x" * MAX_BYTES, FORM, f"The form is larger than {MAX_BYTES} bytes."),
    (b"&".join(b"x%d=1" % number for number in range(MAX_FIELDS + 1)), FORM, "The form cannot be read"),
    (b"opponent=%ff", FORM, "The form cannot be read"),
    (b"opponent=\xff", FORM, "The form cannot be read"),
    (
        b"opponent=link&variant=go",
        FORM,
        "The field variant cannot be used: 'go' is none of standard, chess960, crazyhouse, rbc, dark_chess.",
    ),
    (b"opponent=link&color=red", FORM, "The field color cannot be used: 'red' is none of white, black, random."),
    (b"opponent=link&clock=" + b"1" * 65, FORM, "The field clock cannot be used: Expected `str` of length <= 64."),
    (b"opponent=link&clock=soon", FORM, "'soon' is no clock: write seconds, such as 300"),
    (b"opponent=bot:12", FORM, "This bot is not here now; choose another one."),
    (b"opponent=name&name=nobody", FORM, "Only registered players invite others by name; sign in first."),
]


async def test_form_that_cannot_be_used_is_refused_in_words() -> None:
    async with pages() as (daemon, browser):
        for content, kind, sentence in UNUSABLE:
            answer = await raw(browser, "/play", content, kind)
            assert 400 <= answer.status_code < 500
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert sentence in Page(answer).text
        assert (await daemon.ask("games"))["games"] == []
        answer = await raw(browser, "/play", b"")  # an empty form is a game of the usual kind
        assert answer.history[0].status_code == 303


async def test_form_that_is_none_is_refused_on_every_route() -> None:
    async with pages() as (_, browser):
        for path in POSTED:
            for content, kind, _ in UNUSABLE[3:6]:
                answer = await raw(browser, path, content, kind)
                assert answer.status_code == 400, (path, kind)
                assert "set-cookie" not in answer.headers


async def test_huge_form_is_refused_before_it_is_read() -> None:
    async with pages(max_message=65_536) as (_, browser):
        answer = await raw(browser, "/play", b"opponent=" + b"x" * 100_000)
        assert answer.status_code == 413


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("/", "/"),
        ("/games/7?ply=3", "/games/7?ply=3"),
        ("", "/"),
        (None, "/"),
        ("//example.com", "/"),
        ("/\\example.com", "/"),
        ("https://example.com", "/"),
        ("javascript:alert(1)", "/"),
        ("/\r\nset-cookie: x", "/"),
        ("/\t/example.com", "/"),
    ],
)
def test_sign_in_goes_on_to_pages_of_this_server_only(path: str | None, safe: str) -> None:
    assert safe_path(path) == safe
