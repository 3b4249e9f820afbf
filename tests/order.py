"""The order of the tests: those marked as slow begin first, shared out among half of the processes.

Otherwise a process may come to a test of a minute last, and all others wait for it. Slow tests mostly wait themselves:
while half of the processes do, the others keep the processors busy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

import pytest

_T = TypeVar("_T")


def slowest_first(items: Sequence[_T], seconds: Callable[[_T], float], processes: int) -> list[_T]:
    """Return tests in an order in which each process of the first half has its share of the slow ones first.

    :param seconds: returns how long a test takes, and 0 for one that is not slow.
    :param processes: pytest-xdist gives each an equal part of the list, and what is left over to the last ones.
    """
    slow = sorted(filter(seconds, items), key=seconds, reverse=True)
    others = iter([item for item in items if not seconds(item)])
    half = (processes + 1) // 2
    ordered: list[_T] = []
    for process in range(processes):
        size = (len(items) - len(ordered)) // (processes - process)
        share = slow[process::half] if process < half else []
        ordered += share
        ordered += islice(others, max(0, size - len(share)))
    return ordered + list(others)


def seconds(item: pytest.Item) -> float:
    """Return how long a test takes by its mark; 0 without one."""
    mark = item.get_closest_marker("seconds")
    return mark.args[0] if mark is not None else 0.0


@pytest.hookimpl(trylast=True)  # when -k and -m have chosen
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = slowest_first(items, seconds, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
