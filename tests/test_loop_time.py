"""The loop's time: the time in which the loop is blocked is charged to no player, whenever and however often it is
blocked.
"""

from __future__ import annotations

from math import inf

import pytest
import structlog
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gmd.daemon import open_daemon
from gmd.net import loop_time
from gmd.net.loop_time import AWAY_SECONDS, PatientScope
from tests.set_clock import SetClock, run


class Sleeper(trio.abc.Instrument):
    """An instrument that advances the clock while the loop waits for input.

    :ivar seconds: by how much, at the next wait.
    """

    def __init__(self, clock: SetClock) -> None:
        self.seconds = 0.0
        self._clock = clock

    def before_io_wait(self, timeout: float) -> None:
        self._clock.skip(self.seconds)
        self.seconds = 0.0


#: ("passes", seconds): time in which the loop runs; ("works", ...): one turn takes so long; ("sleeps", ...): the
#: process is stopped while the loop waits.
Step = tuple[str, float]
short = st.sampled_from([0.0, 0.02, 0.04, 0.08])
long = st.sampled_from([0.25, 1.0, 5.0, 3600.0])
steps = st.lists(
    st.tuples(st.just("passes"), short) | st.tuples(st.sampled_from(["works", "sleeps"]), long), max_size=12
)


@pytest.mark.slow
@given(steps)
def test_time_is_the_sum_of_what_the_loop_ran_and_never_goes_back(taken: list[Step]) -> None:
    async def main(clock: SetClock) -> None:
        sleeper = Sleeper(clock)
        with loop_time.watched():
            trio.lowlevel.add_instrument(sleeper)
            begun = latest = loop_time.now()
            ran = 0.0
            for what, seconds in taken:
                if what == "passes":
                    clock.skip(seconds)
                    ran += seconds
                elif what == "works":
                    clock.skip(seconds)
                else:
                    sleeper.seconds = seconds
                    await trio.lowlevel.checkpoint()
                    assert loop_time.is_catching_up()
                for _ in range(2):
                    assert latest <= loop_time.now()
                    latest = loop_time.now()
                    assert loop_time.arrival() <= latest
                    await trio.lowlevel.checkpoint()
                await loop_time.caught_up()
            assert loop_time.now() - begun == pytest.approx(ran, abs=1e-6)
            trio.lowlevel.remove_instrument(sleeper)

    run(main)


def test_time_stands_still_until_there_is_nothing_more_to_read() -> None:
    async def main(clock: SetClock) -> None:
        with loop_time.watched():
            await trio.lowlevel.checkpoint()
            begun = loop_time.now()
            clock.skip(5.0)
            for _ in range(50):  # turns in which some task has work to do
                assert (loop_time.now(), loop_time.arrival()) == (begun, begun)
                assert loop_time.is_catching_up()
                await trio.lowlevel.checkpoint()
            await loop_time.caught_up()
            assert not loop_time.is_catching_up()
            clock.skip(0.05)
            assert loop_time.now() == pytest.approx(begun + 0.05)

    run(main)


def test_time_of_a_busy_loop_stands_still_for_no_longer_than_it_was_blocked() -> None:
    async def main(clock: SetClock) -> None:
        with loop_time.watched():
            await trio.lowlevel.checkpoint()
            begun = loop_time.now()
            clock.skip(1.0)
            turns = 0
            while loop_time.now() == begun:
                turns += 1
                clock.skip(0.05)
                await trio.lowlevel.checkpoint()
            assert 20 <= turns <= 25  # the turn that took a second, the second after it, and the last turn

    run(main)


@pytest.mark.parametrize("seconds", [0.09, 0.11])
def test_turn_counts_as_an_absence_once_it_takes_a_tenth_of_a_second(seconds: float) -> None:
    async def main(clock: SetClock) -> None:
        with loop_time.watched():
            await trio.lowlevel.checkpoint()
            begun = loop_time.now()
            clock.skip(seconds)
            passed = seconds if seconds < AWAY_SECONDS else 0.0
            assert loop_time.now() - begun == pytest.approx(passed)

    run(main)


def test_deadlines_are_put_off_by_an_absence_and_by_nothing_else() -> None:
    async def main(clock: SetClock) -> None:
        with loop_time.watched():
            await trio.lowlevel.checkpoint()
            outer = loop_time.move_on_after(3600.0)
            with outer, loop_time.move_on_after(1.0) as inner:
                clock.skip(60.0)
                assert not inner.cancel_called
                await loop_time.caught_up()
                await clock.sleep(0.98)
                assert not inner.cancel_called
                await clock.sleep(0.04)
                await trio.sleep_forever()
            assert inner.cancelled_caught
            assert not outer.cancel_called
            with pytest.raises(trio.TooSlowError):
                await _take_longer(clock)

    run(main)


async def _take_longer(clock: SetClock) -> None:
    with loop_time.fail_after(0.05):
        clock.skip(0.06)
        await trio.sleep_forever()


def test_daemons_of_one_loop_share_its_time() -> None:
    async def main(clock: SetClock) -> None:
        with loop_time.watched():
            with loop_time.watched():
                await trio.lowlevel.checkpoint()
                begun = loop_time.now()
                clock.skip(10.0)
                await loop_time.caught_up()
            assert loop_time.now() == begun
            clock.skip(10.0)
            assert loop_time.now() == begun
        assert loop_time.now() == trio.current_time()

    run(main)


async def test_loop_time_is_trio_s_time_on_a_mock_clock(autojump_clock: MockClock) -> None:
    with loop_time.watched():
        await trio.sleep(1e4)
        assert loop_time.now() == loop_time.arrival() == trio.current_time() == 1e4
        assert loop_time.nap_until(2e4) == 2e4
        with PatientScope(2e4) as scope:
            await trio.sleep_forever()
        assert scope.cancelled_caught
        assert trio.current_time() == 2e4
        assert not loop_time.is_catching_up()
        assert loop_time.nap_until(inf) == inf


def test_pause_is_logged_once_the_daemon_serves_and_a_slow_start_is_none() -> None:
    async def main(clock: SetClock) -> None:
        sleeper = SlowStart(clock)
        trio.lowlevel.add_instrument(sleeper)
        async with open_daemon():
            assert sleeper.times > 0
            trio.lowlevel.remove_instrument(sleeper)
            await loop_time.caught_up()
            assert pauses() == []
            clock.skip(5.0)
            await loop_time.caught_up()
            assert pauses() == [5.0]

    def pauses() -> list[float]:
        return [entry["seconds"] for entry in logged if entry["event"].startswith("the server was away")]

    with structlog.testing.capture_logs() as logged:
        run(main)


class SlowStart(trio.abc.Instrument):
    """An instrument that lets every turn of the loop take seconds; ``times`` counts them."""

    def __init__(self, clock: SetClock) -> None:
        self.times = 0
        self._clock = clock

    def before_io_wait(self, timeout: float) -> None:
        self._clock.skip(5.0)
        self.times += 1
