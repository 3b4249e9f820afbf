"""Fixtures for tests of bots and clients; pytest finds them where gmd is installed.

``gmd_daemon`` is a daemon with no games, on a free port. ``gmd_config`` is its configuration; override it with a
fixture of that name in a ``conftest.py``, a module or a class. Both fixtures have function scope, or the scope in the
ini option ``gmd_scope``. The daemon's modules are imported only when a test uses a fixture.
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
    """Return the configuration of ``gmd_daemon``: in memory, on a free port, without HTTP."""
    from gmd.config import EMBEDDED

    return EMBEDDED


@pytest.fixture(scope=_scope)
def gmd_daemon(gmd_config: Config) -> Iterator[BackgroundDaemon]:
    """Yield a daemon for tests (:class:`gmd.BackgroundDaemon`), and close it at the end."""
    from gmd.background import background_daemon

    with background_daemon(gmd_config) as daemon:
        yield daemon
