"""A batch waits for the games of the last one as long as they come back, and seldom for those that do not."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from gmd.event_log.returning import LONGEST_SECONDS, MOST_SKIPPED, RETURN_SECONDS, Returning


def after_commit(returning: Returning, answered: set[int], gathered: set[int]) -> bool:
    """Return whether the next batch is to wait."""
    returning.committed(answered, gathered)
    returning.settled()
    return returning.is_awaited


async def test_each_game_that_comes_back_prolongs_the_wait_up_to_its_limit(mock_clock: MockClock) -> None:
    returning = Returning(RETURN_SECONDS)
    began = trio.current_time()
    assert after_commit(returning, set(range(1_000)), {1_000})
    for game_id in range(1_000):
        mock_clock.jump(RETURN_SECONDS / 2)
        returning.gathered(game_id)
        if not returning.is_awaited:
            break
    assert trio.current_time() - began == pytest.approx(LONGEST_SECONDS, abs=RETURN_SECONDS / 2)


async def test_after_waits_in_vain_ever_more_commits_do_without_until_games_come_back(mock_clock: MockClock) -> None:
    returning = Returning(RETURN_SECONDS)
    skipped = [_commits_without(returning) for _ in range(9)]
    assert skipped == [0, 1, 2, 4, 8, 16, 32, MOST_SKIPPED, MOST_SKIPPED]
    assert _commits_without(returning, returns=True) == MOST_SKIPPED
    assert _commits_without(returning) == 0


def _commits_without(returning: Returning, *, returns: bool = False) -> int:
    """Return after how many commits there was a wait; it is in vain unless its game returns."""
    number = 0
    while not after_commit(returning, {1}, {2}):
        returning.handed_over()
        number += 1
    if returns:
        returning.gathered(1)
    returning.handed_over()
    return number
