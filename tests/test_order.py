"""The order in which the tests begin."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.order import slowest_first


@pytest.mark.parametrize("processes", [1, 2, 3, 4])
@pytest.mark.parametrize("slow", [0, 1, 5, 12, 100])
def test_half_of_the_processes_begin_with_their_shares_of_the_slow_tests(slow: int, processes: int) -> None:
    half = (processes + 1) // 2
    tests = [float(number % 7 == 0 and number // 7 < slow) * (1 + number) for number in range(1_000)]
    ordered = slowest_first(tests, float, processes)
    assert Counter(ordered) == Counter(tests)
    start = 0
    for process in range(processes):  # as pytest-xdist divides the list
        size = (len(tests) - start) // (processes - process)
        part = ordered[start : start + size]
        assert part == sorted(part, reverse=True)
        assert abs(sum(map(bool, part)) - (slow / half if process < half else 0)) < 1
        start += size


def test_no_test_is_lost_where_there_are_few() -> None:
    for count in range(12):
        for processes in range(1, 9):
            assert sorted(slowest_first(range(count), lambda number: number % 3, processes)) == list(range(count))
