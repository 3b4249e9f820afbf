"""Deadlines fire when they are due, each once, and at the latest time set, as a model says that checks all of them at
every moment.
"""

from __future__ import annotations

import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gmd.play.deadlines import MAX_OUTDATED, PORTION, Deadlines

Step = tuple[str, int, int]

#: ("set", game, seconds from now), ("clear", game, 0), ("pass", 0, seconds).
steps = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.integers(1, 4), st.integers(-2, 20)),
        st.tuples(st.just("clear"), st.integers(1, 4), st.just(0)),
        st.tuples(st.just("pass"), st.just(0), st.integers(0, 12)),
    ),
    max_size=40,
)


def model(taken: list[Step]) -> list[tuple[float, int]]:
    """Return when each game's deadline fires, by a model in which every game has at most one."""
    now = 0
    deadlines: dict[int, int] = {}
    reached: list[tuple[float, int]] = []
    for what, game_id, seconds in [*taken, ("pass", 0, 1_000)]:
        if what == "set":
            deadlines[game_id] = now + seconds
        elif what == "clear":
            deadlines.pop(game_id, None)
        else:
            due = sorted((max(at, now), at, game) for game, at in deadlines.items() if at <= now + seconds)
            reached += [(when, game) for when, _, game in due]
            for _, _, game in due:
                del deadlines[game]
            now += seconds
    return reached


def run(taken: list[Step]) -> list[tuple[float, int]]:
    """Return when each game's deadline fires."""
    reached: list[tuple[float, int]] = []

    async def main() -> None:
        deadlines = Deadlines(lambda game_id: reached.append((trio.current_time() - start, game_id)))
        start = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(deadlines.run)
            for what, game_id, seconds in [*taken, ("pass", 0, 1_000)]:
                if what == "set":
                    deadlines.set(game_id, trio.current_time() + seconds)
                elif what == "clear":
                    deadlines.clear(game_id)
                else:
                    await trio.sleep(seconds)
                    await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    return reached


@given(steps)
def test_deadlines_fire_when_the_model_says(taken: list[Step]) -> None:
    assert sorted(run(taken)) == sorted(model(taken))


async def test_deadlines_at_the_same_time_all_fire(autojump_clock: MockClock) -> None:
    reached: list[int] = []
    deadlines = Deadlines(reached.append)
    for game_id in range(100):
        deadlines.set(game_id, 5.0)
    with trio.move_on_after(10):
        await deadlines.run()
    assert sorted(reached) == list(range(100))


async def test_deadlines_at_the_same_time_are_spread_over_turns_of_the_event_loop() -> None:
    reached: list[int] = []
    deadlines, number = Deadlines(reached.append), 10 * PORTION
    for game_id in range(number):
        deadlines.set(game_id, trio.current_time())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deadlines.run)
        while len(reached) < number:
            before = len(reached)
            await trio.lowlevel.checkpoint()
            assert len(reached) - before <= 2 * PORTION
        nursery.cancel_scope.cancel()


async def test_deadline_may_set_the_next_one(autojump_clock: MockClock) -> None:
    reached: list[float] = []

    def on_deadline(game_id: int) -> None:
        reached.append(trio.current_time())
        deadlines.set(game_id, trio.current_time() + 2)

    deadlines = Deadlines(on_deadline)
    deadlines.set(1, 2)
    with trio.move_on_after(9):
        await deadlines.run()
    assert reached == [2, 4, 6, 8]


async def test_deadline_may_change_the_others(autojump_clock: MockClock) -> None:
    reached: list[tuple[float, int]] = []

    def on_deadline(game_id: int) -> None:
        reached.append((trio.current_time(), game_id))
        deadlines.clear(2)
        if game_id == 1:
            deadlines.set(3, trio.current_time())

    deadlines = Deadlines(on_deadline)
    for game_id, deadline in ((1, 1.0), (2, 1.0), (3, 5.0)):
        deadlines.set(game_id, deadline)
    with trio.move_on_after(9):
        await deadlines.run()
    assert reached == [(1, 1), (1, 3)]


async def test_cleared_deadlines_leave_nothing_behind(autojump_clock: MockClock) -> None:
    deadlines = Deadlines(lambda game_id: None)
    for game_id in range(10 * MAX_OUTDATED):
        deadlines.set(game_id, 1e9)
        deadlines.clear(game_id)
        assert len(deadlines) <= MAX_OUTDATED + 1


async def test_deadline_that_is_set_again_and_again_takes_one_place(autojump_clock: MockClock) -> None:
    deadlines = Deadlines(lambda game_id: None)
    for ply in range(10 * MAX_OUTDATED):
        deadlines.set(1, 1e9 + ply)
    assert len(deadlines) == 1
    for ply in range(10 * MAX_OUTDATED):
        deadlines.set(1, 1e9 - ply)
        assert len(deadlines) <= MAX_OUTDATED + 1
