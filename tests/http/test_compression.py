"""Compression: of what everybody gets alike, and of nothing that is somebody's own."""

from __future__ import annotations

import gzip

import pytest

from gmd.http.compression import LEAST, MOST, compressed, may_compress, takes_gzip
from gmd.http.pages.visitor import COOKIE
from tests.http.pages.browser import pages

HTML = [(b"content-type", b"text/html; charset=utf-8"), (b"vary", b"Cookie"), (b"content-length", b"2000")]
PAGE = b"<p>abc</p>" * 200


def test_page_without_a_visitor_is_compressed_and_says_what_it_depends_on() -> None:
    assert may_compress(200, HTML, len(PAGE), anybodys=True)
    headers, body = compressed(HTML, PAGE, gzips=True)
    assert gzip.decompress(body) == PAGE
    assert (b"content-encoding", b"gzip") in headers
    assert (b"vary", b"Cookie, Accept-Encoding") in headers
    assert b"content-length" not in dict(headers)


@pytest.mark.parametrize(
    ("status", "headers", "body", "anybodys"),
    [
        (200, HTML, PAGE, False),
        (200, HTML, b"x" * (LEAST - 1), True),
        (200, HTML, b"x" * (MOST + 1), True),
        (304, HTML, PAGE, True),
        (200, [(b"content-type", b"image/png")], PAGE, True),
        (200, [*HTML, (b"content-encoding", b"br")], PAGE, True),
        (200, [*HTML, (b"cache-control", b"private, no-cache")], PAGE, False),
    ],
)
def test_other_responses_are_sent_as_they_are(
    status: int, headers: list[tuple[bytes, bytes]], body: bytes, anybodys: bool
) -> None:
    assert not may_compress(status, headers, len(body), anybodys=anybodys)


def test_public_file_is_compressed_for_everybody_and_says_so_to_caches() -> None:
    public = [*HTML, (b"cache-control", b"public, max-age=300"), (b"etag", b'W/"abc"')]
    assert may_compress(200, public, len(PAGE), anybodys=False)
    headers, _ = compressed(public, PAGE, gzips=True)
    assert dict(headers)[b"etag"] == b'W/"abc"'
    headers, body = compressed(public, PAGE, gzips=False)
    assert (dict(headers)[b"vary"], body) == (b"Cookie, Accept-Encoding", PAGE)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(b"gzip", True), (b"br, gzip;q=0.5", True), (b"gzip;q=0", False), (b"identity", False), (b"xgzip", False)],
)
def test_client_says_whether_it_reads_gzip(value: bytes, expected: bool) -> None:
    assert takes_gzip([(b"accept-encoding", value)]) is expected


async def test_visitor_s_own_pages_have_their_length_and_files_are_small() -> None:
    async with pages() as (daemon, browser):
        assert daemon.http is not None
        assert daemon.http.site is not None
        style = daemon.http.site.static.url("style.css")
        home = await browser.get("/")
        assert home.response.headers["content-encoding"] == "gzip"
        await browser.submit(home.form("/play"), opponent="link")
        assert COOKIE in browser.client.cookies
        own = (await browser.get("/")).response
        assert "content-encoding" not in own.headers
        kept = (await browser.client.get(style)).headers
        assert kept["content-encoding"] == "gzip"
        plain = await browser.client.get(style, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert int(kept["content-length"]) < len(plain.content) / 3
