"""The text of a time control."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.clock_text import read_clock_text


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("300", {"initial": 300.0}),
        ("180+2", {"initial": 180.0, "increment": 2.0}),
        ("0.5+.01", {"initial": 0.5, "increment": 0.01}),
        ("60+0", {"initial": 60.0, "increment": 0.0}),
        ("1/0.05", {"first_move": 1.0, "per_move": 0.05}),
    ],
)
def test_clock_text_is_parsed(text: str, fields: dict[str, float]) -> None:
    assert read_clock_text(text) == fields


@pytest.mark.parametrize("text", ["", "fast", "none", "180 + 2", "-5", "1+2+3", "nan", "inf", "1e3", "180+", "+2", "١"])
def test_text_that_is_no_clock_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no clock: write seconds, such as 300, 180\+2, 1/0.05"):
        read_clock_text(text)


@given(st.integers(0, 10**7), st.integers(0, 1000), st.sampled_from("+/"))
def test_every_pair_of_seconds_is_parsed(first: int, second: int, sign: str) -> None:
    assert list(read_clock_text(f"{first}{sign}{second}").values()) == [first, second]
