"""What holds for every page: its headers, nothing inline, nothing from elsewhere, and errors in words."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from trio.testing import MockClock

from gmd.http.pages.manual import manual_in
from tests.http.helpers import open_http, read_to_end
from tests.http.pages.browser import ACCEPT, pages
from tests.http.pages.test_contests import TOURNAMENT
from tests.http.request_catalogue import routes_of

#: The headers that every page has.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "private, no-cache",
    "vary": "Cookie",
    "content-type": "text/html; charset=utf-8",
}


def headers_of(answer: httpx.Response) -> dict[str, str | None]:
    """Return a page's headers of these; whether it is compressed is left out."""
    found = {name: answer.headers.get(name) for name in HEADERS}
    return {**found, "vary": (found["vary"] or "").removesuffix(", Accept-Encoding")}


#: Pages, and addresses without a page.
PATHS = [
    "/",
    "/sign-in",
    "/register",
    "/nowhere",
    "/play",
    "/ranked",
    "/contests",
    "/contests/1",
    "/players/1",
    "/players",
]
PATHS += ["/games", "/rules", "/help", "/guest"]


@pytest.mark.parametrize("settings", [{}, {"require_registration": True, "max_registrations_per_hour": 0}])
async def test_every_page_has_the_headers_and_is_complete_in_itself(settings: dict[str, object]) -> None:
    async with pages(**settings) as (daemon, browser):
        if not settings:
            await daemon.ask("new_game", player_white=1, player_black=2, clock="300")
            await daemon.ask("contest", token="0" * 16, report=TOURNAMENT)
        for path in PATHS:
            page = await browser.get(path)
            assert headers_of(page.response) == HEADERS
            assert page.inline == []
            assert len(page.ids) == len(set(page.ids))
            for source in page.sources:
                assert source.startswith(("/static/", "/rules/", "/games/"))
                assert (await browser.client.get(source)).status_code == 200
            assert [link for link in page.links if not link.startswith(("/", "#"))] == []
            assert page.response.text.count("<h1>") == 1


async def test_redirects_have_the_headers_too() -> None:
    async with pages() as (_, browser):
        answer = (await browser.post("/play", {"opponent": "link"})).history[0]
        assert answer.status_code == 303
        assert {**HEADERS, "content-type": "text/plain; charset=utf-8"}.items() <= dict(answer.headers).items()


async def test_errors_are_pages_for_browsers_and_json_for_programs() -> None:
    async with pages() as (_, browser):
        for path, accept, kind in (
            ("/nowhere", ACCEPT, "text/html; charset=utf-8"),
            ("/nowhere", "*/*", "application/json"),
            ("/nowhere", "application/json", "application/json"),
            ("/api/nowhere", ACCEPT, "application/json"),
            ("/api/games/1/color", ACCEPT, "application/json"),
            ("/metrics/x", ACCEPT, "application/json"),
        ):
            answer = await browser.client.get(path, headers={"accept": accept})
            assert answer.status_code in (401, 404)
            assert answer.headers["content-type"] == kind


#: A form that is larger than a request may be, and one of which only a part arrives.
TOO_LARGE = ("Content-Length: 2000", b"x" * 2_000, 413, "The body is larger than 1000 bytes.")
TOO_LATE = ("Content-Length: 10", b"name=", 408, "The whole body did not arrive within 30 seconds.")


@pytest.mark.parametrize(("length", "body", "expected", "sentence"), [TOO_LARGE, TOO_LATE])
async def test_body_that_is_too_large_or_too_late_is_refused_on_a_page(
    length: str, body: bytes, expected: int, sentence: str, autojump_clock: MockClock
) -> None:
    async with pages(max_message=1_000, frame_timeout=30) as (daemon, _):
        page, json = (ACCEPT, "text/html; charset=utf-8"), ("*/*", "application/json")
        for path, (accept, kind) in (("/play", page), ("/nowhere", page), ("/play", json)):
            async with await open_http(daemon) as stream:
                head = f"POST {path} HTTP/1.1\r\nHost: here\r\nAccept: {accept}\r\n{length}\r\n\r\n"
                await stream.send_all(head.encode() + body)
                answer = (await read_to_end(stream)).decode()
            assert answer.startswith(f"HTTP/1.1 {expected} ")
            assert f"content-type: {kind}\r\n" in answer
            assert "connection: close\r\n" in answer
            assert answer.count("HTTP/1.1") == 1
            assert (f"<p>{sentence}</p>" in answer) == (accept == ACCEPT)


async def test_failure_to_make_such_a_page_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async with pages(max_message=1_000) as (daemon, _):
        monkeypatch.setattr("gmd.http.pages.visitor.Sessions.read", _fail)
        async with await open_http(daemon) as stream:
            head = f"POST /play HTTP/1.1\r\nHost: here\r\nAccept: {ACCEPT}\r\nContent-Length: 2000\r\n\r\n"
            await stream.send_all(head.encode() + b"x" * 2_000)
            answer = await read_to_end(stream)
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"a secret" not in answer


async def test_static_files_are_kept_by_browsers_under_the_address_of_their_version() -> None:
    async with pages() as (daemon, browser):
        assert daemon.http is not None
        assert daemon.http.site is not None
        address = daemon.http.site.static.url("style.css")
        answer = await browser.client.get(address)
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"] == "text/css; charset=utf-8"
        other = await browser.client.get("/static/0/style.css")
        assert (other.content, other.headers["cache-control"]) == (answer.content, "no-cache")


async def test_manual_is_served_where_it_is_built_and_linked_only_there(tmp_path: Path) -> None:
    (tmp_path / "how-to").mkdir()
    (tmp_path / "index.html").write_text("<h1>The manual</h1>")
    (tmp_path / "how-to/move-a-uci-engine.html").write_text("<h1>UCI</h1>")
    (tmp_path / ".doctrees").mkdir()
    (tmp_path / ".doctrees/environment.pickle").write_text("the build's own")
    async with pages() as (daemon, browser):
        assert daemon.http is not None
        assert daemon.http.site is not None
        daemon.http.site.manual = manual_in(tmp_path)
        home = await browser.get("/")
        assert {"/manual", "/manual/how-to/move-a-uci-engine.html"} <= set(home.links)
        page = await browser.get("/manual")
        assert (page.path, page.text) == ("/manual/index.html", "The manual")
        assert "default-src 'none'" in page.response.headers["content-security-policy"]
        for path in (".doctrees/environment.pickle", "nowhere.html", "..%2f..%2fetc/passwd", "%2e%2e/index.html"):
            assert (await browser.client.get(f"/manual/{path}")).status_code == 404, path
        daemon.http.site.manual = manual_in(tmp_path / "how-to")
        assert not [link for link in (await browser.get("/")).links if link.startswith("/manual")]
        assert (await browser.get("/manual/index.html")).status == 404


#: Paths that lead out of the folder of static files, or to nothing in it.
STRANGE = [
    "nowhere.css",
    "../visitor.py",
    "%2e%2e/visitor.py",
    "..%2fvisitor.py",
    "/etc/passwd",
    "",
    "%00",
    "a/b/c",
    "..",
]


async def test_nothing_but_static_files_is_served_as_one() -> None:
    async with pages() as (daemon, _):
        for path in STRANGE:
            async with await open_http(daemon) as stream:
                request = f"GET /static/0/{path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
                await stream.send_all(request.encode())
                assert (await read_to_end(stream)).startswith(b"HTTP/1.1 404 "), path


async def test_no_pages_leaves_the_rest_as_it_is() -> None:
    async with pages(pages=False) as (daemon, browser):
        others = {path for _, path in routes_of(daemon) if not path.startswith(("/api", "/schema"))}
        assert others == {"/healthz", "/metrics"}
        for path in ("/", "/sign-in", "/static/0/style.css"):
            answer = await browser.client.get(path, headers={"accept": ACCEPT})
            assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")


async def test_internal_error_is_a_page_that_shows_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with pages() as (daemon, browser):
        assert daemon.http is not None
        assert daemon.http.site is not None
        monkeypatch.setattr(type(daemon.lobby.presence), "present", _fail)
        await daemon.ask("register", name="ann", password="correct horse")
        form = (await browser.get("/sign-in")).form("/sign-in")
        page = await browser.submit(form, name="ann", password="correct horse")
        assert page.status == 500
        assert "The server failed on this request; its log says why." in page.text
        assert "a secret" not in page.response.text


def _fail(*_: object) -> None:
    raise RuntimeError("a secret")
