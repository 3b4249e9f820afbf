"""Subscriptions: what they watch notifies them, and nothing else."""

from __future__ import annotations

import tracemalloc
from contextlib import ExitStack

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from gmd.play.watchers import PORTION, Subscription, Watchers


async def notified(subscription: Subscription) -> bool:
    """Return whether the subscription was notified since the last wait for it."""
    contacted = trio.Event()

    async def wait() -> None:
        await subscription.wait()
        contacted.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return contacted.is_set()


@given(
    st.lists(st.sets(st.integers(1, 5), max_size=4), max_size=5),
    st.lists(st.integers(1, 5), max_size=5),
    st.integers(1, 5),
    st.tuples(st.none() | st.integers(1, 5), st.none() | st.integers(1, 5)),
)
async def test_change_notifies_subscribers_of_its_game_and_of_its_players(
    games_of: list[set[int]], player_of: list[int], game_id: int, changed: tuple[int | None, int | None]
) -> None:
    watchers = Watchers()
    with ExitStack() as stack:
        of_games = [stack.enter_context(watchers.watching_games(games)) for games in games_of]
        of_players = [stack.enter_context(watchers.watching_player(player)) for player in player_of]
        watchers.notify(game_id, changed)
        assert [await notified(subscription) for subscription in of_games] == [game_id in games for games in games_of]
        assert [await notified(subscription) for subscription in of_players] == [
            player in changed for player in player_of
        ]
        watchers.notify(99, (99, None))
        assert not any([await notified(subscription) for subscription in of_games + of_players])
    watchers.notify(game_id, changed)  # no subscriber is left
    assert not any([await notified(subscription) for subscription in of_games + of_players])


async def test_notifications_before_a_wait_count_once() -> None:
    subscription = Subscription()
    subscription.notify()
    subscription.notify()
    assert await notified(subscription)
    assert not await notified(subscription)


async def test_interruption_is_permanent() -> None:
    subscription = Subscription()
    assert not subscription.interrupted
    subscription.interrupt()
    for _ in range(3):
        assert await notified(subscription)
    subscription.notify()
    assert subscription.interrupted


@pytest.mark.parametrize("when", ["before", "after"])
async def test_stopping_interrupts_present_and_later_subscribers(when: str) -> None:
    watchers = Watchers()
    if when == "before":
        watchers.stop()
    with watchers.watching_games([1, 1, 2]) as of_games, watchers.watching_player(1) as of_player:
        if when == "after":
            watchers.stop()
        assert of_games.interrupted
        assert of_player.interrupted


@pytest.mark.parametrize("waiters", [1, 16])
async def test_changes_of_many_games_at_once_wake_few_subscribers_in_each_turn(waiters: int) -> None:
    """The first two subscribers of every game, its players as a rule, are woken before the others of any."""
    watchers, games, woken = Watchers(), range(200), list[int]()

    async def wait(game_id: int) -> None:
        with watchers.watching_games([game_id]) as subscription:
            await subscription.wait()
            woken.append(game_id)

    async with trio.open_nursery() as running:
        running.start_soon(watchers.run)
        async with trio.open_nursery() as nursery:
            for game_id in games:
                for _ in range(waiters):
                    nursery.start_soon(wait, game_id)
            await trio.testing.wait_all_tasks_blocked()
            for game_id in games:
                watchers.notify(game_id, (1, 2))
            while len(woken) < len(games) * waiters:
                before = len(woken)
                await trio.lowlevel.checkpoint()
                assert len(woken) - before <= 2 * PORTION
        running.cancel_scope.cancel()
    first = woken[: PORTION + 2 * len(games)]
    assert set(first) == set(games)


async def test_timeouts_at_the_same_moment_wake_few_subscribers_in_each_turn(autojump_clock: trio.abc.Clock) -> None:
    watchers, waiters = Watchers(), 10 * PORTION
    woken: list[int] = []

    async def wait(stack: ExitStack, number: int, seconds: float) -> None:
        subscription = stack.enter_context(watchers.watching_games([1]))
        stack.enter_context(watchers.timeouts.after(seconds, subscription.time_out))
        await subscription.wait()
        woken.append(number)

    async with trio.open_nursery() as nursery:
        with ExitStack() as stack:
            nursery.start_soon(watchers.run)
            await trio.testing.wait_all_tasks_blocked()
            for number in range(waiters):
                nursery.start_soon(wait, stack, number, 60.0 - trio.current_time())
            nursery.start_soon(wait, stack, waiters, 30.0)
            await trio.sleep(59.0)
            assert woken == [waiters]  # the one that has waited long enough
            await trio.sleep_until(60.0)
            for _ in range(100):
                before = len(woken)
                await trio.lowlevel.checkpoint()
                assert len(woken) - before <= 2 * PORTION  # the turn may end between two portions
            assert len(woken) == waiters + 1
            nursery.cancel_scope.cancel()


async def test_subscribing_to_the_same_games_takes_the_same_room_each_time_however_many_have() -> None:
    """Containers that are copied as they grow would all be copied in the same call."""
    watchers, games = Watchers(), range(1, 33)
    with ExitStack() as stack:
        taken = []
        tracemalloc.start()
        stack.callback(tracemalloc.stop)
        for _ in range(1_000):
            before = tracemalloc.get_traced_memory()[0]
            stack.enter_context(watchers.watching_games(games))
            taken.append(tracemalloc.get_traced_memory()[0] - before)
    assert max(taken[1:]) < 2 * sorted(taken)[500]
