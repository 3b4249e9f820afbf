"""The time that a match still takes, as reported while games are played, compared with the true schedule.

The runner plays the schedule on trio's mock clock: its seconds take no time.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gm_arena.match.openings import Opening
from gm_arena.match.pace import Pace, duration, seconds_left
from gm_arena.match.plan import Fixture, fixtures
from gm_arena.match.report import Report
from gm_arena.match.runner import Runner
from gm_arena.sprt import Sprt
from tests.arena.test_pace import Moment, schedule


def record_of(fixture: Fixture, seconds: float) -> dict[str, Any]:
    white, black = ("new", "old") if fixture.white == 0 else ("old", "new")
    return {
        "game": fixture.number, "white": white, "black": black, "opening": "start", "pair": fixture.pair,
        "result": "1/2-1/2", "ending": "checkmate", "plies": 1, "seconds": seconds
    }  # fmt: skip


async def reported(lengths: list[float], at_once: int, resumed: int = 0, sprt: Sprt | None = None) -> dict[float, str]:
    """Play games of these lengths, and ask for the time to go half-way between any two ends of games.

    :param lengths: whole seconds, so that games end at the same moments here as in :func:`schedule`.
    :param resumed: how many of the games were played before the resumption.
    :returns: the answers, by the seconds that are truly left.
    """
    plan = fixtures(2, len(lengths), [Opening("start")], repeat=True, kind="round-robin")
    pace, answers = Pace(at_once, now=trio.current_time), dict[float, str]()
    report = Report(["new", "old"], len(plan), sprt, pace, quiet=True, verbose=False)
    report.resumed([record_of(fixture, lengths[fixture.number - 1]) for fixture in plan[:resumed]])
    began = trio.current_time()

    async def play(fixture: Fixture) -> dict[str, Any]:
        with pace.game(fixture.number):
            await trio.sleep(lengths[fixture.number - 1])
        return record_of(fixture, lengths[fixture.number - 1])

    async def ask(moment: Moment, after: float) -> None:
        await trio.sleep_until(began + after)
        answers[moment.true_left] = report.time_to_go()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(Runner(play, report.played, lambda: False).run, plan[resumed:], at_once)
        for moment, after in half_ways(lengths[resumed:], at_once):
            nursery.start_soon(ask, moment, after)
    assert report.time_to_go() == ""
    return answers


def half_ways(lengths: list[float], at_once: int) -> list[tuple[Moment, float]]:
    """Return the state of a match half-way between any two ends of games, and the seconds until then."""
    moments = list(schedule(lengths, at_once))
    return [(moment, moments[0].true_left - moment.true_left) for moment in moments[1::2]]


def one_slow(at: int) -> list[float]:
    """Return the lengths of games of ten seconds, with one of five minutes."""
    return [300.0 if number == at else 10.0 for number in range(1, 61)]


def expected(before: list[float], moment: Moment, at_once: int) -> str:
    """Return the answer by the schedule, in which every game's length is known."""
    seconds = seconds_left([*before, *moment.ended], moment.running, moment.to_begin, at_once)
    return "" if seconds is None else f"about {duration(seconds)} to go"


@pytest.mark.parametrize("slow", [1, 20, 49])
@pytest.mark.parametrize("at_once", [2, 8])
@pytest.mark.parametrize("resumed", [0, 10])
async def test_time_to_go_counts_each_game_that_ended_behind_a_slow_one(
    slow: int, at_once: int, resumed: int, autojump_clock: MockClock
) -> None:
    lengths = one_slow(resumed + slow)
    assert await reported(lengths, at_once, resumed) == {
        moment.true_left: expected(lengths[:resumed], moment, at_once)
        for moment, _ in half_ways(lengths[resumed:], at_once)
    }


async def test_time_to_go_behind_a_slow_first_game_is_that_of_the_games_being_played(
    autojump_clock: MockClock,
) -> None:
    """All games have ended but the first and the last, which ends 5 seconds after the first: nothing else is left to
    play.
    """
    answers = await reported([585.0, *[10.0] * 59], at_once=2)
    assert answers[7.5] == "about 35 s to go"


async def test_sequential_test_counts_the_games_that_ended_behind_a_slow_one(autojump_clock: MockClock) -> None:
    """After 20 draws it takes 14 more games on average: game 21 goes on, and the other 13 have ended."""
    answers = await reported(one_slow(21), at_once=2, sprt=Sprt(0, 80, model="logistic"))
    [moment] = [moment for moment, _ in half_ways(one_slow(21), at_once=2) if len(moment.ended) == 40]
    assert moment.to_begin == 18
    likely = seconds_left(moment.ended, moment.running, 0, 2)
    at_most = seconds_left(moment.ended, moment.running, 18, 2)
    assert likely is not None
    assert at_most is not None
    assert likely < at_most / 2
    assert answers[moment.true_left] == f"about {duration(likely)} to go, at most {duration(at_most)}"
