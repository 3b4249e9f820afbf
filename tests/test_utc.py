"""Times as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gmd.event_log.utc import read_time, write_time


@given(st.integers(0, 253_402_300_799))
def test_whole_second_is_read_as_it_was_written(seconds: int) -> None:
    assert read_time(write_time(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "1970-01-01T00:00:00Z"), (1e9 + 0.999, "2001-09-09T01:46:40Z"), (2e12, "9999-12-31T23:59:59Z")],
)
def test_fractions_of_seconds_are_dropped_and_years_have_four_digits(seconds: float, text: str) -> None:
    assert write_time(seconds) == text
