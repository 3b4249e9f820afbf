"""Fixtures that the tests of the clients share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.python_clients import Clients, trio_in_a_thread
from tests.clients.sessions import LANGUAGES, Opener, opener


@pytest.fixture(params=["blocking", "trio"])
def clients(request: pytest.FixtureRequest) -> Iterator[Clients]:
    """Yield each of the Python clients behind a blocking interface."""
    if request.param == "blocking":
        made = Clients(None)
        yield made
        made.close_all()
        return
    with trio_in_a_thread() as token:
        made = Clients(token)
        yield made
        made.close_all()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the programs in C that several tests use."""
    return tmp_path_factory.mktemp("c")


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def opened(language: str, compiled: Path) -> Iterator[Opener]:
    """Yield how to open sessions of each client."""
    with opener(language, compiled) as found:
        yield found
