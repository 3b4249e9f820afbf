"""Fixtures that the tests of the clients share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.python_clients import Clients, trio_in_a_thread


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
