"""Strange requests to every route of the pages: no internal error, no secret in an answer, and a daemon as before."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, quote_from_bytes, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gm_client.blocking import connect
from gmd.event_log.directory import SESSION_KEY
from gmd.http.pages.forms import CSRF_FIELD, URLENCODED
from gmd.http.pages.visitor import COOKIE
from tests.http.pages.browser import ACCEPT, PAGE_PATHS
from tests.serving import Served, served

pytestmark = pytest.mark.slow  # all share one daemon, which is a program because its whole log is examined

PATIENCE_SECONDS = 120
SPECTATOR_KEY = "a-key-of-spectators"
PASSWORD = "correct horse battery"
#: What the values of secret fields hold, and no answer may.
MARK = "bb5e81c9d2"
#: Fields of forms whose values are secret, and all that forms and queries of pages have.
SECRET_FIELDS = ("password", "again", "spectator_key", CSRF_FIELD)
FIELDS = (
    *("name", "next", "variant", "color", "clock", "opponent", "kind", "move", "square", "piece", "promotion", "claim"),
    *("ply", "view", "flip", "size", "part", "since", "page", "seat"),
)


@dataclass(frozen=True)
class Answer:
    """A response: its status, its headers in small letters, and its body, of which a stream of events has none."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Site:
    """A daemon with pages, and what it must not tell.

    :ivar cookie: the cookie of ann, a registered player.
    :ivar token: the token for her forms.
    :ivar secrets: byte strings that no answer to others may contain.
    """

    daemon: Served
    cookie: str
    token: str
    secrets: list[bytes] = field(repr=False)

    @property
    def origin(self) -> str:
        return self.daemon.http

    def ask(self, method: str, target: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        """Send a request on a connection of its own, as it stands: the target and the headers are latin-1."""
        host, _, port = self.origin.removeprefix("http://").partition(":")
        lines = {"Host": f"{host}:{port}", "Connection": "close", **(headers or {})}
        if body or method == "POST":
            lines["Content-Length"] = str(len(body))
        head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        with socket.create_connection((host, int(port)), PATIENCE_SECONDS) as connection:
            with suppress(ConnectionError):  # what is too large is refused before all of it is sent
                connection.sendall(head.encode("latin-1") + b"\r\n" + body)
            return _read(connection)


def _read(connection: socket.socket) -> Answer:
    with connection.makefile("rb") as reading:
        first = reading.readline().decode("latin-1")
        headers = {}
        while line := reading.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        endless = headers.get("content-type", "").startswith("text/event-stream")
        return Answer(int(first.split(" ")[1]), headers, b"" if endless else reading.read())


def cookie_of(answer: Answer) -> str:
    return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]


@contextmanager
def running_site(data: Path) -> Iterator[Site]:
    limits = {"GMD_MAX_FAILURES_PER_MINUTE": "1000000", "GMD_MAX_REGISTRATIONS_PER_HOUR": "1000000"}
    environment = {"GMD_HTTP": "true", "GMD_HTTP_PORT": "0", "GMD_DATA": str(data), "GMD_SPECTATOR_KEY": SPECTATOR_KEY}
    with served(env={**environment, **limits}) as daemon:
        with connect(daemon.host, daemon.port) as client:
            ann = client.register("ann", password=PASSWORD)
            for variant in ("standard", "rbc", "crazyhouse"):
                over = client.new_game(1, 2, variant=variant)["game_id"]
                client.end_game(over, "resignation_white", player=1)
                client.new_game(1, 2, variant=variant, clock="900+5")
        key = (data / SESSION_KEY).read_bytes()
        site = Site(daemon, "", "", [])
        form = urlencode({"name": "ann", "password": PASSWORD}).encode()
        cookie = cookie_of(site.ask("POST", "/sign-in", {"Content-Type": URLENCODED}, form))
        page = site.ask("GET", "/sign-in", {"Accept": ACCEPT, "Cookie": f"{COOKIE}={cookie}"}).body.decode()
        (token,) = set(re.findall(r'name="csrf" value="([^"]+)"', page))
        kept = (key.hex(), cookie, SPECTATOR_KEY, ann["key"], PASSWORD, MARK)
        yield Site(daemon, cookie, token, [key, *(each.encode() for each in kept)])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run a daemon for these tests. At the end it is healthy, and has logged no error."""
    with running_site(tmp_path_factory.mktemp("fuzzed")) as found:
        yield found
        assert found.ask("GET", "/healthz").status == 200
        assert found.daemon.stop(signal.SIGTERM) == 0
        assert found.daemon.process.stderr is not None
        logged = found.daemon.process.stderr.read()
        assert [line for line in logged.splitlines() if re.search(r"error|critical|Traceback", line)] == []
        assert [secret for secret in found.secrets if secret in logged.encode()] == []


# --- Requests ---------------------------------------------------------------------------------------------------------

#: Headers hold latin-1 without line ends; anything else is refused before a route is found.
LATIN = st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=30)
NUMBERS = st.sampled_from(["0", "1", "2", "-1", "1e3", "007", "9" * 400, "2147483648", str(2**53 + 1), "NaN", "½", "٣"])
KNOWN = st.sampled_from(["standard", "rbc", "white", "black", "truth", "link", "name", "bot:1", "bot:x", "300+3"])
VALUES = st.one_of(NUMBERS, KNOWN, st.text(max_size=30), st.text("%&=;+#?/\\.\0\r\n\"'<>{}", max_size=10))
#: A part of a path, encoded as it may be in one.
PARTS = st.one_of(
    st.sampled_from(
        ["1", "2", "3", "4", "5", "6", "7", "1.svg", "2.png", "3.pgn", "4.json", "1.exe", "ann", "..", "%2e"]
    ),
    VALUES.map(lambda value: quote(value, safe="")),
    st.binary(max_size=8).map(lambda value: quote_from_bytes(value, safe="")),
)


NAMES = st.one_of(st.sampled_from(FIELDS), st.sampled_from(FIELDS), st.text(max_size=8))
#: Places to go on to, of this server and of others.
PLACES = st.sampled_from(["/games/1", "//example.com", "/\\example.com", "https://example.com", "\t//example.com", ""])
#: Fields that register a player, unless the name is taken.
NEWCOMERS = st.fixed_dictionaries(
    {
        "name": st.uuids().map(lambda number: number.hex[:16]),
        "password": st.just(f"{MARK} is long"),
        "again": st.just(f"{MARK} is long"),
        "next": PLACES,
    }
)
#: Forms of fields that pages know, each of them or not, and of one that they do not.
FORMS = st.one_of(
    NEWCOMERS,
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(FIELDS, VALUES)
        | {name: VALUES.map(lambda value: f"{MARK}{value}") for name in SECRET_FIELDS}
        | {"next": PLACES},
    ),
    st.dictionaries(NAMES, VALUES, max_size=2),
)
QUERIES = st.one_of(
    st.just(""),
    st.lists(st.tuples(NAMES, VALUES), max_size=5).map(lambda pairs: f"?{urlencode(pairs)}"),
    st.binary(max_size=20).map(lambda value: f"?{quote_from_bytes(value, safe='=&%+')}"),
)
#: Headers that routes read, apart from the cookie.
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "Accept": st.one_of(st.just(ACCEPT), st.just("application/json"), LATIN),
        "Origin": st.one_of(st.sampled_from(["null", "http://[", "https://example.com"]), LATIN),
        "Sec-Fetch-Site": st.one_of(st.sampled_from(["same-origin", "cross-site", "none"]), LATIN),
        "Content-Type": st.one_of(st.sampled_from([URLENCODED, "application/json", "multipart/form-data"]), LATIN),
        "Content-Encoding": st.sampled_from(["gzip", "br", "x"]),
        "If-None-Match": st.one_of(st.just("*"), LATIN),
        "If-Modified-Since": LATIN,
        "Last-Event-ID": st.one_of(NUMBERS.map(lambda value: value.encode().decode("latin-1")), LATIN),
        "Range": st.sampled_from(["bytes=0-0", "bytes=-9999999999", "bytes=9-1", "x"]),
        "X-Csrf-Token": LATIN,
        "X-Forwarded-For": LATIN,
        "X-Forwarded-Proto": st.sampled_from(["https", "javascript", ""]),
        "Accept-Language": LATIN,
    },
)
BODIES = st.one_of(
    FORMS.map(lambda form: urlencode(form).encode()),
    st.binary(max_size=60),
    VALUES.map(lambda value: json.dumps({"move": value}).encode()),
)
#: Cookies that nobody was given: nothing like one, or the parts of one.
FORGED = st.one_of(
    LATIN.map(lambda value: f"{COOKIE}={MARK}{value}"),
    LATIN,
    st.tuples(NUMBERS, NUMBERS, NUMBERS, st.text("0123456789abcdef", max_size=64)).map(
        lambda parts: f"{COOKIE}={'.'.join(parts)}".encode().decode("latin-1")
    ),
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.differing_executors]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
@given(data=st.data())
def test_no_request_makes_a_page_fail_or_tell_a_secret(site: Site, method: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for each, path in PAGE_PATHS if each == method]), "path")
    target = re.sub(r"\{[^}]*\}", lambda _: data.draw(PARTS, "part"), path) + data.draw(QUERIES, "query")
    headers = dict(data.draw(HEADERS, "headers"))
    is_ann = data.draw(st.booleans(), "ann")
    if is_ann:
        headers["Cookie"] = f"{COOKIE}={site.cookie}"
    elif data.draw(st.booleans(), "forged"):
        headers["Cookie"] = data.draw(FORGED, "cookie")
    body = b""
    if method == "POST":
        body = data.draw(BODIES, "body")
        if data.draw(st.sampled_from([True, True, False]), "ours"):  # most others are refused for where they come from
            token = {CSRF_FIELD: site.token} if is_ann else {}
            body = urlencode(data.draw(FORMS, "form") | token).encode()
            headers |= {"Sec-Fetch-Site": "same-origin", "Content-Type": URLENCODED}
    answer = site.ask(method, target, headers, body)
    assert answer.status < 500, answer
    check_safe(site, answer)
    if not is_ann:
        assert site.token.encode() not in answer.body


def check_safe(site: Site, answer: Answer) -> None:
    """Fail if an answer has a secret, a page without its headers, or a header of somebody else's making."""
    shown = answer.body + json.dumps(answer.headers).encode()
    assert [secret for secret in site.secrets if secret in shown] == []
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    if "location" in answer.headers:
        assert re.match(r"/(?!/)", answer.headers["location"])
