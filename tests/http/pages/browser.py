"""A browser without JavaScript: it keeps cookies, follows redirects, and submits the forms of pages as they stand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any

import httpx
from litestar.routes import HTTPRoute

from gmd.daemon import Daemon
from gmd.http.pages.routes import PAGE_ROUTES
from tests.helpers import running_daemon
from tests.http.helpers import http_client
from tests.http.rbc import PATIENCE_SECONDS

#: What a browser accepts for a page.
ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"
#: The methods and paths of all pages.
PAGE_PATHS = sorted(
    (method, route.path_format)
    for route in PAGE_ROUTES.routes
    if isinstance(route, HTTPRoute)
    for method in route.methods
    if method != "OPTIONS"
)


@dataclass
class Form:
    """A form of a page: its method, its address, what its fields hold, and the values of its radio buttons."""

    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)


class Page(HTMLParser):
    """A page that a browser has loaded.

    :ivar text: its text.
    :ivar links: the addresses that it links to.
    :ivar sources: the addresses that it loads.
    :ivar inline: its inline scripts and styles, apart from blocks of data.
    :ivar ids: the ids of its elements.
    """

    def __init__(self, response: httpx.Response) -> None:
        super().__init__()
        self.response = response
        self.links: list[str] = []
        self.sources: list[str] = []
        self.inline: list[str] = []
        self.ids: list[str] = []
        self.forms: list[Form] = []
        self._words: list[str] = []
        self._select = ""
        self.feed(response.text)

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def path(self) -> str:
        return self.response.url.path

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._words).split())

    def form(self, action: str, **fields: str) -> Form:
        """Return the form of an address that has these fields, or the only one; with radio buttons chosen so."""
        (found,) = (
            each
            for each in self.forms
            if each.action == action
            and all(value in [each.fields.get(name), *each.choices.get(name, ())] for name, value in fields.items())
        )
        return replace(found, fields=found.fields | fields)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given["href"])
        elif tag == "form":
            self.forms.append(Form(given.get("method", "get"), given["action"]))
        elif tag == "style" or (tag == "script" and "src" not in given and given.get("type") != "application/json"):
            self.inline.append(tag)
        if tag in ("link", "script", "img", "iframe") and (source := given.get("href") or given.get("src")):
            self.sources.append(source)
        self._note_field(tag, given)

    def _note_field(self, tag: str, given: dict[str, str]) -> None:
        if tag == "input" and given.get("type") == "checkbox" and "checked" not in given:
            return  # it is not sent
        if given.get("type") == "radio":
            self.forms[-1].choices.setdefault(given["name"], []).append(given["value"])
            if "checked" not in given:
                return
        if tag == "input" and "name" in given:
            self.forms[-1].fields[given["name"]] = given.get("value", "")
        elif tag == "select":
            self._select = given["name"]
        elif tag == "option" and self._select:
            self.forms[-1].fields.setdefault(self._select, given["value"])
        elif tag == "button" and "name" in given:
            self.forms[-1].buttons.append((given["name"], given["value"]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        self._words.append(data)


class Browser:
    """A browser, with a cookie jar of its own."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def get(self, path: str) -> Page:
        """Load a page."""
        return Page(await self.client.get(path, headers={"accept": ACCEPT}))

    async def submit(self, form: Form, **fields: str) -> Page:
        """Fill a form in, submit it, and load the page that it leads to."""
        return Page(await self.post(form.action, {**form.fields, **fields}))

    async def post(self, path: str, fields: dict[str, Any], **headers: str) -> httpx.Response:
        """Post a form as a browser does from one of our own pages; follow its redirect."""
        origin = str(self.client.base_url).rstrip("/")
        others = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(path, data=fields, headers={"accept": ACCEPT, "origin": origin, **others})


@asynccontextmanager
async def browsing(daemon: Daemon) -> AsyncIterator[Browser]:
    """Open a browser at a daemon."""
    async with http_client(daemon.http_port, follow_redirects=True, timeout=PATIENCE_SECONDS) as client:
        yield Browser(client)


@asynccontextmanager
async def pages(**settings: Any) -> AsyncIterator[tuple[Daemon, Browser]]:
    """Yield a daemon with pages, and a browser."""
    async with running_daemon(http=True, http_port=0, **settings) as daemon, browsing(daemon) as browser:
        yield daemon, browser
