"""The checks that every test in Chromium makes find what they are for."""

from __future__ import annotations

import pytest

from tests.browser.chromium import Browser, Browsers, check_accessible
from tests.serving import Served

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("script", "event", "complaint"),
    [
        ("console.error('a fault')", "console", "console: a fault"),
        ("setTimeout(() => { throw new Error('a fault') })", "pageerror", "exception: a fault"),
        ("location.assign('http://127.0.0.2:7180/')", "request", "request to another origin: http://127.0.0.2:7180/"),
        ("fetch('http://127.0.0.2:7180/').catch(() => {})", "console", "Content Security Policy"),
        ("document.body.innerHTML = '<p style=\"color: red\">'", "console", "Content Security Policy"),
    ],
)
def test_window_that_does_what_pages_must_not_fails(
    chromium: Browser, site: Served, script: str, event: str, complaint: str
) -> None:
    browsers = Browsers(chromium, site.http)
    page = browsers.open("/sign-in")
    page.evaluate(f"() => {{ {script} }}")
    while not any(complaint in each for each in browsers.complaints):
        page.wait_for_event(event)
    with pytest.raises(AssertionError):
        browsers.close()


def test_axe_finds_a_field_without_a_label(browsers: Browsers) -> None:
    page = browsers.open("/sign-in")
    check_accessible(page)
    page.evaluate("document.querySelector('label').remove()")
    with pytest.raises(AssertionError, match="label"):
        check_accessible(page)
