"""A real browser: Chromium, as the distribution has it, driven by playwright's synchronous API.

A test of a page in Chromium is an ordinary function, not a coroutine: playwright has an event loop of its own, which
waits in every call. The daemon is a process of its own (``tests/serving.py``). Nothing needs a sleep: playwright's
actions wait for the element, and ``expect`` waits for the condition.

Import what a test needs of playwright from this module: where playwright is not installed, the importing module is
skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest

from tests.tools import require_any_tool, require_module

_sync = require_module("playwright.sync_api")
Browser, BrowserContext, Locator, Page = _sync.Browser, _sync.BrowserContext, _sync.Locator, _sync.Page
expect = _sync.expect

#: The names of the program, in the order of preference.
NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Nothing that the tests do not ask for: no sandbox, which containers lack, no calls home.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
#: Seconds after which what does not happen counts as failed. A busy machine is not a failure.
PATIENCE_SECONDS = 120
expect.set_options(timeout=PATIENCE_SECONDS * 1000)

Device = Literal["desktop", "telephone"]
Scheme = Literal["light", "dark"]
#: The windows.
DEVICES: dict[Device, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "telephone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "is_mobile": True,
        "has_touch": True,
    },
}
#: What axe calls the findings that fail a test.
GRAVE = frozenset(["serious", "critical"])


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Start Chromium, without a window. Where it cannot be had, the test is skipped."""
    program = require_any_tool(*NAMES)
    with _sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(program), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Browsers:
    """A factory of browser windows, each with cookies of its own, that notes what a page must not do.

    That is an error in the console, an uncaught exception, and a request to another origin than the page's daemon.

    :ivar complaints: what it noted.
    """

    def __init__(self, chromium: Browser, address: str) -> None:
        self._chromium = chromium
        self._address = address
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self._allowed: list[str] = []

    def open(
        self,
        path: str | None = None,
        *,
        address: str | None = None,
        device: Device = "desktop",
        scheme: Scheme = "light",
        javascript: bool = True,
        **options: Any,
    ) -> Page:
        """Open a window of a visitor without cookies.

        :param path: the page to load.
        :param address: the daemon's address, without a slash at its end; the one of the fixture ``site`` by default.
        :param options: other options of playwright's ``new_context``.
        """
        origin = address or self._address
        context = self._chromium.new_context(
            base_url=origin,
            color_scheme=scheme,
            java_script_enabled=javascript,
            locale="en-GB",
            **{"reduced_motion": "reduce", **DEVICES[device], **options},
        )
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        self._contexts.append(context)
        self._watch(context, origin)
        page = context.new_page()
        if path is not None:
            page.goto(path)
        return page

    def _watch(self, context: BrowserContext, origin: str) -> None:
        def note_message(message: Any) -> None:
            if message.type == "error":
                self.complaints.append(f"console: {message.text} ({message.location.get('url')})")

        def note_request(request: Any) -> None:
            parts = urlsplit(request.url)
            if parts.scheme not in ("data", "blob") and f"{parts.scheme}://{parts.netloc}" != origin:
                self.complaints.append(f"request to another origin: {request.url}")

        context.on("console", note_message)
        context.on("weberror", lambda error: self.complaints.append(f"exception: {error.error}"))
        context.on("request", note_request)

    def allow(self, pattern: str) -> None:
        """Expect complaints that contain a regular expression: Chromium reports a page with status 404 as an error."""
        self._allowed.append(pattern)

    def close(self) -> None:
        """Close the windows; fail if there are complaints."""
        for context in self._contexts:
            context.close()
        left = [each for each in self.complaints if not any(re.search(allowed, each) for allowed in self._allowed)]
        assert left == [], "\n".join(left)


def check_accessible(page: Page) -> None:
    """Fail if axe-core finds something serious or critical on a page, or if the page is wider than its window."""
    axe = require_module("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    grave = [
        f"{each['id']} ({each['impact']}): {each['help']}: {node['html']} {node['failureSummary']}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]
    assert grave == [], f"{page.url}\n" + "\n".join(grave)
    check_fits(page)


def check_fits(page: Page) -> None:
    """Fail if a page, or a part of it, has to be scrolled sideways."""
    wider = page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll("body *:not(input)")]
            .filter((part) => part.scrollWidth > part.clientWidth && part.clientWidth > 0)
            .filter((part) => part === document.documentElement || getComputedStyle(part).overflowX !== "visible")
            .map((part) => `${part.tagName} ${part.id}: ${part.scrollWidth} pixels in ${part.clientWidth}`)"""
    )
    if wider:
        pytest.fail(f"{page.url} is wider than its window: {wider}")
