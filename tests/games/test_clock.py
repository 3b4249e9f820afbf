"""Clocks, to which elapsed time is an argument, and the games that use them. No test here waits."""

from __future__ import annotations

import math

import pytest
from chess import BLACK, WHITE
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import BadRequest, GameIsOver, IllegalMove, NotAvailable, NotYourTurn
from gm_protocol.messages import ClockOption, NewGame
from gm_protocol.state import ClockState
from gmd.games.chess import ChessGame
from gmd.games.clock import MAX_SECONDS, TICK, Clock, check_clock
from gmd.games.commands import Absent, Command, End, FirstContact, Flag, Play, RunOut
from gmd.games.events import Created, Ended, FirstContactMade, Moved
from gmd.games.game import Decision
from gmd.games.variants import make_game, resolve

FISCHER = ClockOption(initial=60.0, increment=2.0)
PER_MOVE = ClockOption(first_move=1.0, per_move=0.1)


SHAPES = 'give {"initial": seconds, "increment": seconds} or {"first_move": seconds, "per_move": seconds}'

# --- The option -------------------------------------------------------------------------------------------------


def test_valid_clock_option_is_accepted() -> None:
    for option in (PER_MOVE, ClockOption(first_move=1.0, per_move=1.0, margin=0.0)):
        assert check_clock(option) == option
    assert check_clock(ClockOption(initial=MAX_SECONDS)) == ClockOption(initial=MAX_SECONDS, increment=0.0)
    option = ClockOption(initial=0.5, margin=0.5)
    assert check_clock(option) == ClockOption(initial=0.5, increment=0.0, margin=0.5)


numbers: st.SearchStrategy[float | UnsetType] = st.just(UNSET) | st.sampled_from([0.0, 1.0, 5.0])


@given(numbers, numbers, numbers, numbers)
def test_clock_option_is_of_exactly_one_kind(
    initial: float | UnsetType,
    increment: float | UnsetType,
    first_move: float | UnsetType,
    per_move: float | UnsetType,
) -> None:
    option = ClockOption(initial=initial, increment=increment, first_move=first_move, per_move=per_move)
    given_fields = {name for name in option.__struct_fields__ if getattr(option, name) is not UNSET}
    kinds = [{"initial"}, {"initial", "increment"}, {"first_move", "per_move"}]
    positive = 0.0 not in (initial, first_move, per_move)
    if given_fields in kinds and positive:
        check_clock(option)
    else:
        with pytest.raises(BadRequest, match=r"^clock"):
            check_clock(option)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (ClockOption(initial=0.0), "clock.initial: 0.0 is not from more than 0 to 10000000 seconds"),
        (ClockOption(initial=math.inf), "clock.initial: inf is not from more than 0 to 10000000 seconds"),
        (ClockOption(initial=math.nan), "clock.initial: nan is not from more than 0 to 10000000 seconds"),
        (ClockOption(initial=1.0, increment=1e8), "clock.increment: 100000000.0 is not from 0 to 10000000 seconds"),
        (ClockOption(first_move=1.0, per_move=0.0), "clock.per_move: 0.0 is not from more than 0 to 10000000 seconds"),
        (ClockOption(initial=1.0, margin=1e8), "clock.margin: 100000000.0 is not from 0 to 10000000 seconds"),
        (ClockOption(initial=1.0, lag=-1.0), "clock.lag: -1.0 is not from 0 to 10000000 seconds"),
        (ClockOption(margin=1.0), f"clock: {SHAPES}, not nothing"),
        (ClockOption(initial=1.0, per_move=1.0), f"clock: {SHAPES}, not initial, per_move"),
    ],
)
def test_invalid_clock_option_is_refused(option: ClockOption, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        check_clock(option)
    assert str(caught.value) == message


# --- The clock --------------------------------------------------------------------------------------------------


def test_increment_is_added_after_each_own_move() -> None:
    clock = Clock(FISCHER)
    assert (clock.left(WHITE), clock.left(BLACK)) == (60.0, 60.0)
    clock.charge(WHITE, 10.0)
    clock.press(WHITE)
    assert (clock.left(WHITE), clock.left(BLACK)) == (52.0, 60.0)
    clock.charge(BLACK, 0.5)
    clock.press(BLACK)
    assert (clock.left(WHITE), clock.left(BLACK)) == (52.0, 61.5)


def test_each_move_has_its_own_time() -> None:
    clock = Clock(PER_MOVE)
    assert (clock.left(WHITE), clock.left(BLACK)) == (1.0, 1.0)
    clock.charge(WHITE, 0.9)
    clock.press(WHITE)
    assert (clock.left(WHITE), clock.left(BLACK)) == (0.1, 1.0)
    clock.charge(WHITE, 0.01)
    clock.press(WHITE)
    assert clock.left(WHITE) == 0.1  # unused time is lost


def test_margin_is_time_that_is_not_shown() -> None:
    clock = Clock(ClockOption(initial=3.0, margin=0.5))
    assert clock.show(WHITE, 1.0) == ClockState(white=2.0, black=3.0)
    assert not clock.fallen(WHITE, 3.25)
    assert clock.show(WHITE, 3.25) == ClockState(white=0.0, black=3.0)
    assert clock.fallen(WHITE, 3.5)
    assert clock.left(WHITE) == 3.5


def test_increment_refills_the_margin() -> None:
    clock = Clock(ClockOption(initial=3.0, increment=1.0, margin=0.5))
    clock.charge(WHITE, 3.25)
    clock.press(WHITE)
    assert clock.show(WHITE, 0.0) == ClockState(white=0.75, black=3.0)
    clock.charge(WHITE, 1.25)
    clock.press(WHITE)
    assert clock.left(WHITE) == 1.0  # half of it is margin
    assert clock.show(WHITE, 0.0) == ClockState(white=0.5, black=3.0)


def test_every_move_has_the_margin_with_a_time_per_move() -> None:
    clock = Clock(ClockOption(first_move=1.0, per_move=0.25, margin=0.5))
    for seconds in (1.25, 0.625, 0.625):
        assert not clock.fallen(WHITE, seconds)
        clock.charge(WHITE, seconds)
        clock.press(WHITE)
        assert clock.show(WHITE, 0.0).white == 0.25
    assert clock.fallen(WHITE, 0.75)


@pytest.mark.parametrize(
    ("passed", "thought", "own"),
    [(3.0, 2.75, 2.75), (3.0, 2.0, 2.5), (3.0, 0.0, 2.5), (3.0, 3.0, 3.0), (3.0, 9.0, 3.0), (0.25, 0.0, 0.0)],
)
def test_claimed_lag_is_not_charged_up_to_its_limit(passed: float, thought: float, own: float) -> None:
    clock = Clock(ClockOption(initial=3.0, lag=0.5))
    assert clock.own(passed, thought) == own
    assert (clock.left(WHITE), clock.seconds_to_flag(WHITE)) == (3.0, 3.5)


def test_flag_falls_when_the_time_is_used_up() -> None:
    clock = Clock(ClockOption(initial=3.0))
    assert not clock.fallen(WHITE, 0.0)
    assert not clock.fallen(WHITE, 3.0 - 2 * TICK)
    assert clock.fallen(WHITE, 3.0)
    assert clock.fallen(WHITE, math.inf)
    clock.charge(WHITE, 1.0)
    assert clock.fallen(WHITE, 2.0)
    assert not clock.fallen(BLACK, 2.0)


def test_clock_is_shown_in_milliseconds_and_never_negative() -> None:
    clock = Clock(ClockOption(initial=3.0))
    assert clock.show(WHITE, 0.0) == ClockState(white=3.0, black=3.0)
    assert clock.show(WHITE, 1.23456) == ClockState(white=1.765, black=3.0)
    assert clock.show(BLACK, 1.23456) == ClockState(white=3.0, black=1.765)
    assert clock.show(BLACK, 5.0) == ClockState(white=3.0, black=0.0)
    assert (clock.left(WHITE), clock.left(BLACK)) == (3.0, 3.0)  # showing charges nothing


times = st.floats(0, 1e6, allow_nan=False)


@given(
    st.sampled_from([FISCHER, PER_MOVE, ClockOption(initial=0.001), ClockOption(initial=1e6, increment=30.0)]),
    st.lists(st.tuples(st.booleans(), times)),
)
def test_clock_is_never_negative_and_never_changes_the_other(
    option: ClockOption, moves: list[tuple[bool, float]]
) -> None:
    clock = Clock(option)
    for color, thought in moves:
        other = clock.left(not color)
        clock.charge(color, thought)
        assert clock.left(color) >= 0
        clock.press(color)
        assert clock.left(color) >= 0
        assert clock.left(not color) == other


# --- Games with a clock -----------------------------------------------------------------------------------------


def new_game(option: ClockOption | None = FISCHER, *, black: int = 2) -> ChessGame:
    request = NewGame(player_white=1, player_black=black, clock=option)
    return make_game(Created(1, black, resolve(request, {}, 0, strict=True), "2026-11-21T04:41:00Z"))


def ticking_game(option: ClockOption = FISCHER) -> ChessGame:
    game = new_game(option)
    for seat in (WHITE, BLACK):
        happen(game, FirstContact(seat))
    return game


def happen(game: ChessGame, command: Command, thought: float = 0.0) -> Decision:
    decision = game.decide(command, thought)
    for event in decision.events:
        game.apply(event)
    return decision


def is_nothing(decision: Decision) -> bool:
    return not decision.events and decision.shown is None and decision.refusal is None


def left(game: ChessGame) -> tuple[float, float]:
    assert game.clock is not None
    return game.clock.left(WHITE), game.clock.left(BLACK)


def test_clocks_start_after_first_contact_of_both_seats() -> None:
    game = new_game()
    assert (game.awaited, game.ticking) == (True, False)
    assert happen(game, FirstContact(BLACK)) == Decision([FirstContactMade("black")])
    assert is_nothing(happen(game, FirstContact(BLACK)))  # a second contact changes nothing
    assert (game.awaited, game.ticking) == (True, False)
    assert happen(game, FirstContact(WHITE)) == Decision([FirstContactMade("white")])
    assert (game.awaited, game.ticking) == (False, True)
    assert is_nothing(happen(game, Absent()))


def test_first_contact_of_one_player_counts_for_both_its_seats() -> None:
    game = new_game(black=1)
    assert happen(game, FirstContact(WHITE)) == Decision([FirstContactMade("white"), FirstContactMade("black")])
    assert game.ticking


def test_game_without_a_clock_waits_for_no_first_contact() -> None:
    game = new_game(None)
    assert (game.awaited, game.ticking) == (False, False)
    for command in (FirstContact(WHITE), Flag(), Absent()):
        assert is_nothing(happen(game, command, 1e9))


@pytest.mark.parametrize(("contacted", "loser"), [([], "white"), ([WHITE], "black"), ([BLACK], "white")])
def test_player_without_first_contact_loses_on_time(contacted: list[bool], loser: str) -> None:
    game = new_game()
    for seat in contacted:
        happen(game, FirstContact(seat))
    [event] = happen(game, Absent()).events
    assert event == Ended("timeout_white" if loser == "white" else "timeout_black", 0.0)
    assert game.over
    assert left(game) == (60.0, 60.0)


def test_elapsed_time_is_charged_to_the_side_to_move() -> None:
    game = ticking_game()
    assert happen(game, Play(WHITE, "e4"), 10.0).events == [Moved("e2e4", 10.0)]
    assert left(game) == (52.0, 60.0)
    happen(game, Play(BLACK, "e5"), 0.25)
    assert left(game) == (52.0, 61.75)


@pytest.mark.parametrize("thought", [60.0, 61.0, 1e9])
def test_move_after_flag_fall_is_refused_and_game_ends_on_time(thought: float) -> None:
    game = ticking_game()
    decision = happen(game, Play(WHITE, "e4"), thought)
    assert decision.events == [Ended("timeout_white", 60.0)]
    assert isinstance(decision.refusal, GameIsOver)
    assert str(decision.refusal) == "game 0 is over: timeout_white"
    assert (game.now.ply, game.now.ending, left(game)) == (0, Ending(Cause.TIMEOUT, winner=BLACK), (0.0, 60.0))


@pytest.mark.parametrize(
    "command", [Flag(), End(WHITE, Cause.RESIGNATION), End(BLACK, Cause.RESIGNATION), Play(BLACK, "e5")]
)
def test_any_command_after_flag_fall_ends_the_game_on_time(command: Command) -> None:
    game = ticking_game()
    happen(game, command, 60.0)
    assert game.now.ending == Ending(Cause.TIMEOUT, winner=BLACK)


def test_flag_of_the_waiting_side_does_not_fall() -> None:
    game = ticking_game(ClockOption(initial=10.0))
    happen(game, Play(WHITE, "e4"), 9.0)
    assert is_nothing(happen(game, Flag(), 5.0))  # White has 1 second left, but Black is to move
    assert happen(game, Flag(), 10.0).events == [Ended("timeout_black", 10.0)]


@pytest.mark.parametrize(
    ("seat", "event", "clocks"),
    [
        (WHITE, Ended("timeout_white", 10.0, "white", "timeout_white"), (0.0, 60.0)),
        (BLACK, Ended("timeout_black", 10.0, "black", "timeout_black"), (50.0, 0.0)),
    ],
)
def test_player_who_gives_up_its_time_loses_on_or_off_turn(
    seat: bool, event: Ended, clocks: tuple[float, float]
) -> None:
    game = ticking_game()
    assert happen(game, RunOut(seat), 10.0).events == [event]
    assert (game.over, left(game)) == (True, clocks)
    assert isinstance(happen(game, RunOut(seat)).refusal, GameIsOver)


def test_time_cannot_be_given_up_without_a_clock() -> None:
    game = new_game(None)
    assert isinstance(happen(game, RunOut(WHITE)).refusal, NotAvailable)
    assert not game.over


def test_refused_move_is_charged_nothing() -> None:
    game = ticking_game()
    decision = happen(game, Play(WHITE, "Ke2"), 10.0)
    assert (list(decision.events), type(decision.refusal)) == ([], IllegalMove)
    assert left(game) == (60.0, 60.0)  # the clock keeps running
    assert isinstance(happen(game, Play(BLACK, "e5"), 10.0).refusal, NotYourTurn)


def test_clock_stops_when_the_game_ends() -> None:
    game = ticking_game()
    happen(game, End(BLACK, Cause.RESIGNATION), 10.0)
    assert (game.ticking, left(game)) == (False, (50.0, 60.0))
    assert is_nothing(happen(game, Flag(), 1e9))


def test_retry_is_answered_again_and_charged_nothing() -> None:
    game = ticking_game()
    happen(game, Play(WHITE, "e4", ply=0), 10.0)
    after = game.now
    assert happen(game, Play(WHITE, "e2e4", ply=0), 5.0) == Decision([], shown=after)
    assert left(game) == (52.0, 60.0)


def test_retry_after_flag_fall_of_the_other_side_ends_the_game_and_is_answered_again() -> None:
    game = ticking_game()
    happen(game, Play(WHITE, "e4", ply=0), 10.0)
    after = game.now
    decision = happen(game, Play(WHITE, "e4", ply=0), 60.0)
    assert decision == Decision([Ended("timeout_black", 60.0)], shown=after)
    assert happen(game, Play(WHITE, "e4", ply=0), 60.0) == Decision([], shown=after)


def test_lag_delays_the_flag_fall_and_the_charged_time_is_in_the_events() -> None:
    game = ticking_game(ClockOption(initial=60.0, lag=2.0))
    assert game.summary().seconds_left == 62.0
    assert game.elapsed(Flag(), 61.0) == 59.0
    assert game.elapsed(Play(BLACK, "e5", thought=0.0), 61.0) == 59.0  # a move by White may still be on its way
    assert game.elapsed(Play(WHITE, "e4"), 61.0) == 61.0
    assert game.elapsed(Play(WHITE, "e4", thought=60.5), 61.0) == 60.5
    assert game.decide(Play(WHITE, "e4"), 59.5).events == [Moved("e2e4", 59.5)]
