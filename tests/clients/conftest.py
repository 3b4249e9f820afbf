"""What the tests of clients share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.python_clients import Clients, trio_in_a_thread


@pytest.fixture(params=["blocking", "trio"])
def clients(request: pytest.FixtureRequest) -> Iterator[Clients]:
    """Each of the Python clients, as one that blocks."""
    if request.param == "blocking":
        made = Clients(None)
        yield made
        made.close_all()
        return
    with trio_in_a_thread() as token:
        made = Clients(token)
        yield made
        made.close_all()
