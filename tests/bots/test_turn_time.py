"""The time that a turn of a bot of blind chess may take."""

from __future__ import annotations

from gm_bots.turn_time import RESERVE, seconds_by_reconchess, seconds_for, seconds_of_game


def test_turn_takes_a_share_of_what_the_clock_has_left_above_a_reserve() -> None:
    assert seconds_of_game(900, 0, None) == (900 - RESERVE) / 40
    assert seconds_of_game(900, 5, None) == (900 - RESERVE) / 40 + 2.5
    assert seconds_of_game(900, 5, 1.0) == 1
    assert seconds_of_game(RESERVE, 5, None) == seconds_of_game(1, 0, None) == 0


def test_seconds_follow_the_clock_of_the_game() -> None:
    state = {"clock": {"white": 85.0, "black": 45.0}, "turn": "black"}
    initial, each = {"clock": {"initial": 900, "increment": 2}}, {"clock": {"per_move": 60}}
    assert seconds_for(state, initial, None) == 2  # type: ignore[arg-type]
    assert seconds_for(state, initial, 0.5) == 0.5  # type: ignore[arg-type]
    assert seconds_for(state, each, None) == 15  # type: ignore[arg-type]
    assert seconds_for({"clock": None, "turn": "white"}, {}, None) is None  # type: ignore[arg-type, typeddict-item]


def test_seconds_by_reconchess_have_no_limit_without_a_clock() -> None:
    assert seconds_by_reconchess(85, None) == 2
    assert seconds_by_reconchess(float("inf"), None) is None
    assert seconds_by_reconchess(10_000_000, 3.0) == 3  # gmd over HTTP, where there is no clock
