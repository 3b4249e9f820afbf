"""A clock that jumps ahead removes no more games than the time that can have passed would."""

from __future__ import annotations

from pathlib import Path

import structlog
from hypothesis import given
from hypothesis import strategies as st

from gmd.event_log.opening import open_store
from gmd.event_log.pruning_clock import MOST_AHEAD, PruningClock
from gmd.event_log.seen_time import FILE_NAME, SeenFile, SeenRow
from gmd.event_log.sql import SqlStore
from gmd.event_log.utc import read_time, write_time

DAY = 86_400.0
NOW = 1_800_000_000.0


class Machine:
    """A machine's clocks: the wall time, and the time since it started."""

    def __init__(self) -> None:
        self.wall = NOW
        self.steady = 50.0

    def run(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


def clock(machine: Machine, directory: Path, newest: float | None = None, *, trusted: bool = False) -> PruningClock:
    return PruningClock(
        SeenFile(directory / FILE_NAME),
        lambda up_to: newest,
        trusted=trusted,
        wall=lambda: machine.wall,
        steady=lambda: machine.steady,
    )


def test_correct_clock_is_trusted_and_recorded(tmp_path: Path) -> None:
    machine = Machine()
    now = clock(machine, tmp_path)
    for _ in range(48):
        assert now() == machine.wall
        machine.run(3_600)
    assert read_time((tmp_path / FILE_NAME).read_text().strip()) == machine.wall - 3_600


def test_clock_a_year_ahead_at_the_start_is_not_trusted_and_logged_daily(tmp_path: Path) -> None:
    machine = Machine()
    clock(machine, tmp_path)()
    machine.wall += 365 * DAY
    with structlog.testing.capture_logs() as logged:
        now = clock(machine, tmp_path)
        assert now() == NOW
        for hour in range(1, 49):
            machine.run(3_600)
            assert now() == NOW + hour * 3_600
    assert [entry["days_ahead"] for entry in logged] == [365.0, 365.0, 365.0]
    assert logged[0] == {
        "event": "the clock has jumped ahead: finished games are pruned as if it had not",
        "log_level": "error",
        "clock": write_time(NOW + 365 * DAY),
        "pruned_as_of": write_time(NOW),
        "days_ahead": 365.0,
        "advice": "set the clock right; if it is right, start the daemon once with --trust-clock",
    }


def test_clock_that_jumps_at_run_time_is_not_trusted_until_corrected(tmp_path: Path) -> None:
    machine = Machine()
    now = clock(machine, tmp_path)
    now()
    machine.wall += 30 * DAY
    machine.run(10)
    assert now() == NOW + 10
    machine.wall -= 30 * DAY
    machine.run(10)
    assert now() == machine.wall == NOW + 20


def test_without_a_recorded_time_the_newest_change_of_the_log_counts(tmp_path: Path) -> None:
    machine = Machine()
    assert clock(machine, tmp_path, NOW - 9 * DAY)() == NOW - 9 * DAY
    (tmp_path / FILE_NAME).write_text("damaged\n")
    assert clock(machine, tmp_path, NOW - DAY / 2)() == NOW
    assert clock(machine, tmp_path, None)() == NOW


def test_operator_can_declare_the_clock_correct_once(tmp_path: Path) -> None:
    machine = Machine()
    clock(machine, tmp_path)()
    machine.wall += 100 * DAY
    assert clock(machine, tmp_path, trusted=True)() == machine.wall
    assert clock(machine, tmp_path)() == machine.wall


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 2 * DAY), st.floats(-900 * DAY, 900 * DAY)), max_size=8))
def test_pruning_time_never_runs_more_than_a_day_ahead_of_elapsed_time(
    tmp_path_factory: object, steps: list[tuple[bool, float, float]]
) -> None:
    machine = Machine()
    directory = Path(tmp_path_factory.mktemp("clock"))  # type: ignore[attr-defined]
    now = clock(machine, directory)
    highest = now()
    for restarted, seconds, jump in steps:
        machine.run(seconds)
        machine.wall = max(machine.wall + jump, 0.0)
        if restarted:
            now = clock(machine, directory)
        after = now()
        assert after <= highest + seconds + MOST_AHEAD + 1
        highest = max(highest + seconds, after)


def test_time_of_pruning_is_kept_in_the_database(database_url: str, tmp_path: Path) -> None:
    machine = Machine()

    def clock_of(store: SqlStore) -> PruningClock:
        return PruningClock(
            SeenRow(store), lambda up_to: None, wall=lambda: machine.wall, steady=lambda: machine.steady
        )

    with open_store(str(tmp_path), database_url) as one:
        assert clock_of(one)() == NOW
    machine.run(90 * DAY)
    with open_store(str(tmp_path), database_url) as two:
        SeenRow(two).note(machine.wall)
    machine.run(3_600)
    with open_store(str(tmp_path), database_url) as one, structlog.testing.capture_logs() as logged:
        assert clock_of(one)() == machine.wall  # the other one has pruned meanwhile
        assert logged == []
        assert SeenRow(one).read() == machine.wall
    machine.wall += 365 * DAY
    with open_store(str(tmp_path), database_url) as two:
        assert clock_of(two)() == machine.wall - 365 * DAY
