"""The estimate of the time that a match still takes, compared with the time it took, in simulated and recorded
schedules.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.match.pace import Pace, duration, seconds_left
from tests.proofs import cases

#: How many games must have ended before an estimate is checked; also at least half of those played at once. Where five
#: of sixteen have ended, all within a tenth of the mean, nothing says yet how long the others take: of 100 such matches
#: with exponential lengths five were then estimated at less than a tenth.
FIRST_FEW = 5

#: Seconds that the games of `gmd match minimax:depth=1 random --games 24 --concurrency 3` took on a busy machine.
RECORDED = (
    0.9, 1.0, 1.3, 0.9, 0.8, 0.6, 0.6, 1.2, 1.1, 1.0, 0.7, 0.9,
    0.7, 1.0, 1.0, 1.0, 0.7, 1.5, 1.3, 1.5, 1.1, 1.3, 0.9, 0.6
)  # fmt: skip


class Moment(NamedTuple):
    """A match at some moment."""

    ended: list[float]
    running: list[float]
    to_begin: int
    true_left: float


def schedule(lengths: list[float], at_once: int) -> Iterator[Moment]:
    """Play games of these lengths; yield the state of the match whenever a game ends, and half-way to the next end."""
    began, ends, free = [], [], [0.0] * at_once
    for length in lengths:
        start = heapq.heappop(free)
        began.append(start)
        ends.append(start + length)
        heapq.heappush(free, start + length)
    times = sorted({0.0, *ends})
    for time in sorted([*times, *((one + other) / 2 for one, other in pairwise(times))]):
        games = list(zip(began, ends, lengths, strict=True))
        yield Moment(
            ended=[length for _, end, length in games if end <= time],
            running=[time - start for start, end, _ in games if start <= time < end],
            to_begin=sum(start > time for start, _, _ in games),
            true_left=times[-1] - time,
        )


def check(lengths: list[float], at_once: int) -> None:
    """Assert that no estimate is wrong by a factor of ten, or, for the last games in progress, by more than two of the
    longest.
    """
    for moment in schedule(lengths, at_once):
        if len(moment.ended) < max(FIRST_FEW, at_once / 2):
            continue
        found = seconds_left(moment.ended, moment.running, moment.to_begin, at_once)
        assert found is not None
        within = moment.true_left / 10 <= found <= moment.true_left * 10
        assert within or (moment.to_begin <= at_once and abs(found - moment.true_left) <= 2 * max(lengths)), moment


def test_match_of_one_game_at_a_time_is_estimated_from_the_first_one() -> None:
    left = seconds_left([5.0], [], 3, 1)
    assert left is not None
    assert 10.0 < left < 20.0


@pytest.mark.parametrize("kind", ["same", "alike", "exponential", "lognormal", "two kinds"])
@pytest.mark.parametrize("at_once", [1, 3, 16])
def test_estimate_is_never_wrong_by_ten_times_after_the_first_few_games(kind: str, at_once: int) -> None:
    rng = random.Random(f"{kind} {at_once}")
    draw = {
        "same": lambda: 60.0,
        "alike": lambda: rng.uniform(50, 70),
        "exponential": lambda: 1.0 + rng.expovariate(1 / 60),
        "lognormal": lambda: rng.lognormvariate(4, 0.8),
        "two kinds": lambda: rng.uniform(5, 15) if rng.random() < 0.5 else rng.uniform(50, 100),
    }[kind]
    for _ in range(cases(1)):
        check([draw() for _ in range(rng.randint(FIRST_FEW, 90))], at_once)


def test_estimate_holds_in_a_recorded_match() -> None:
    check(list(RECORDED), 3)


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=20), st.integers(0, 50), st.integers(1, 16))
def test_more_games_never_take_less_time(ended: list[float], to_begin: int, at_once: int) -> None:
    found = [seconds_left(ended, [1.0] * at_once, at_once + to_begin + more, at_once) for more in range(3)]
    assert found == sorted(found)  # type: ignore[type-var]


def test_games_are_measured_as_they_are_played() -> None:
    time = 100.0
    pace = Pace(2, now=lambda: time)
    assert pace.seconds_left(6) is None
    with pace.game(1), pace.game(2):
        time += 30
    assert pace.seconds_left(6) == pytest.approx(60, rel=0.15)
    with pytest.raises(KeyError), pace.game(3):
        raise KeyError
    pace.resumed([60.0, 60.0])
    assert pace.seconds_left(8) == pytest.approx(90, rel=0.3)
    assert pace.seconds_left(4) == 0.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (9.5, "10 s"),
        (41, "45 s"),
        (56, "1 min"),
        (1_500, "25 min"),
        (3_600, "1 h"),
        (8_000, "2 h 10 min"),
        (50_000, "14 h"),
        (400_000, "5 d"),
    ],
)
def test_duration_is_as_exact_as_an_estimate(seconds: float, text: str) -> None:
    assert duration(seconds) == text
