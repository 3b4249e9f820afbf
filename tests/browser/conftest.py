"""Fixtures of the tests in Chromium: the browser, a daemon with pages, windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.serving import Served, served

if TYPE_CHECKING:
    from tests.browser.chromium import Browser, Browsers, Device, Page, Scheme


def site_environment(**settings: str) -> dict[str, str]:
    """Return the environment of a daemon with pages, and of these settings: ``bots="random"`` for GMD_BOTS."""
    others = {f"GMD_{name.upper()}": value for name, value in settings.items()}
    return {"GMD_HTTP": "true", "GMD_HTTP_PORT": "0", **others}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Start Chromium for the tests of a module.

    Not for longer: playwright's event loop counts as running in this thread until it is closed, and other tests have
    asyncio loops of their own.
    """
    from tests.browser.chromium import running_chromium

    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def site() -> Iterator[Served]:
    """Run a daemon with pages and its quickest bots for the whole test run; each test knows its own games."""
    with served(env=site_environment(bots="minimax-beginner,random", bot_games="50")) as daemon:
        yield daemon


@pytest.fixture
def browsers(chromium: Browser, site: Served) -> Iterator[Browsers]:
    """Return a factory of windows: one for each person in the test."""
    from tests.browser.chromium import Browsers

    opened = Browsers(chromium, site.http)
    yield opened
    opened.close()


@pytest.fixture
def page(browsers: Browsers) -> Page:
    """Open a window on a desktop, in light colours."""
    return browsers.open()


#: Two of the looks have each device and each scheme.
LOOKS = [
    *("desktop-light", "telephone-dark"),
    *(pytest.param(look, marks=pytest.mark.nightly) for look in ("desktop-dark", "telephone-light")),
]


@pytest.fixture(params=LOOKS)
def look(request: Any) -> tuple[Device, Scheme]:
    """Run a test on a desktop and on a telephone, in light and in dark colours."""
    device, scheme = request.param.split("-")
    return device, scheme


@pytest.fixture
def styled_page(browsers: Browsers, look: tuple[Device, Scheme]) -> Page:
    """Open a window of each look."""
    device, scheme = look
    return browsers.open(device=device, scheme=scheme)
