"""Fixtures for those who test bots and clients: pytest finds them where gmd is installed.

``gmd_daemon`` is a daemon with an empty memory, on a free port. ``gmd_config`` says how it is configured: a fixture of
that name in a ``conftest.py``, a module or a class takes its place. Both last for one test, or for as long as the ini
option ``gmd_scope`` says. Nothing of the daemon is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from gmd.background import BackgroundDaemon
    from gmd.config import Config

Scope = Literal["function", "class", "module", "package", "session"]
SCOPES: tuple[Scope, ...] = ("function", "class", "module", "package", "session")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option."""
    parser.addini("gmd_scope", f"how long a gmd_daemon lasts: {', '.join(SCOPES)}", default="function")


def _scope(fixture_name: str, config: pytest.Config) -> Scope:
    wanted = config.getini("gmd_scope")
    for scope in SCOPES:
        if scope == wanted:
            return scope
    raise pytest.UsageError(f"gmd_scope: {wanted!r} is none of {', '.join(SCOPES)}")


@pytest.fixture(scope=_scope)
def gmd_config() -> Config:
    """How the daemon of ``gmd_daemon`` is configured: in memory, on a free port, without HTTP."""
    from gmd.config import EMBEDDED

    return EMBEDDED


@pytest.fixture(scope=_scope)
def gmd_daemon(gmd_config: Config) -> Iterator[BackgroundDaemon]:
    """A daemon for tests (:class:`gmd.BackgroundDaemon`), closed at the end."""
    from gmd.background import background_daemon

    with background_daemon(gmd_config) as daemon:
        yield daemon
