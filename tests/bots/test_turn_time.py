"""The time that a turn of a bot of blind chess may take."""

from __future__ import annotations

import pytest

from gm_bots.turn_time import RESERVE, Gains, TurnTime, seconds_of_game


def test_turn_takes_a_share_of_what_the_clock_has_left_above_a_reserve() -> None:
    assert seconds_of_game(900) == (900 - RESERVE) / 40
    assert seconds_of_game(RESERVE) == seconds_of_game(1) == 0


def test_turns_that_take_longer_than_planned_are_planned_shorter() -> None:
    """Half a second more for each, as on a busy machine, is then no more than a share of the clock allows."""
    gains, left, taken = Gains(), 60.0, []
    while left > 25.0:
        planned = gains.plan(seconds_of_game(left), left)
        taken.append((planned + 0.5) / seconds_of_game(left))
        left -= planned + 0.5
    assert taken[0] > 1.3
    assert all(share < 1.01 for share in taken[16:])


def test_turns_that_end_early_are_planned_as_before() -> None:
    gains = Gains()
    for left in (60.0, 59.5, 59.0):
        assert gains.plan(1.0, left) == 1.0
        gains.took(0.5)


@pytest.mark.parametrize(("initial", "increment"), [(900, 0), (900, 5), (60, 0), (120, 6), (20, 1)])
@pytest.mark.parametrize("overhead", [0.0, 0.02])
def test_clock_is_used_and_never_runs_out(initial: int, increment: int, overhead: float) -> None:
    """A turn is planned to take what the clock allows with its increment, which nobody tells the player."""
    gains, left, shown = Gains(), float(initial), []
    for _ in range(150):
        left -= gains.plan(seconds_of_game(left), left) + overhead
        assert left > 0
        left += increment
        shown.append(left)
    assert shown[80] < initial * 0.6


def test_a_clock_that_is_out_is_planned_for_no_time() -> None:
    gains = Gains()
    assert [gains.plan(0.1, 5.0), gains.plan(0.0, 0.5), gains.plan(0.0, 0.0)] == [0.1, 0.0, 0.0]


def test_turns_have_no_limit_without_a_clock() -> None:
    assert TurnTime(None).plan(85) == 2
    assert TurnTime(None, without_clock=1.0).plan(85) == 2
    assert TurnTime(None).plan(float("inf")) is None
    assert TurnTime(None).remaining(float("inf")) is None
    assert TurnTime(None, without_clock=1.0).plan(float("inf")) == 1
    assert TurnTime(3.0, without_clock=1.0).plan(10_000_000) == 3  # gmd over HTTP, where there is no clock


def test_no_turn_takes_longer_than_its_limit() -> None:
    """A clock that gains with each turn allows more, but the limit holds."""
    clock = [100.0]
    turns, left = TurnTime(1.0, now=lambda: clock[0]), 900.0
    for _ in range(5):
        turns.begin()
        assert turns.plan(left) == 1
        clock[0] += 1
        turns.end()
        left += 4


def test_turn_is_planned_once_and_its_move_has_what_is_left() -> None:
    clock = [100.0]
    turns = TurnTime(None, now=lambda: clock[0])
    assert turns.plan(85) == turns.plan(5) == 2
    clock[0] += 0.75
    assert turns.remaining(84.25) == 1.25
    clock[0] += 10  # the opponent's turn
    turns.begin()
    assert turns.remaining(83) == seconds_of_game(83)


def test_turn_is_planned_shorter_after_one_that_took_longer() -> None:
    clock = [100.0]
    turns = TurnTime(None, now=lambda: clock[0])
    assert turns.plan(85) == 2
    turns.begin()
    clock[0] += 0.25  # what it works out before it is asked where to sense
    planned = seconds_of_game(82.25) - 0.125  # a quarter of the half a second more
    assert turns.plan(82.25) == planned
    assert turns.remaining(82.25) == planned - 0.25
