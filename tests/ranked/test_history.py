"""How ratings came about: points that are added as games end, and those computed again after a restart."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from time import time

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection
from trio.testing import MockClock

from gmd.lobby.invitation import Offer
from gmd.lobby.rating_history import MOST_POINTS, PARTS, Curve, Point, RatingHistory, parts_of
from gmd.lobby.results import Entrant
from tests.helpers import durable_daemon, store_in
from tests.lobbying import ALICE, BOB, CAROL, House, house, housed
from tests.ranked.test_leaderboard import MOMENT, computed, play, play_some


def history(there: House) -> RatingHistory:
    return there.daemon.services.ranked.ratings.history


def games(there: House, player: int) -> list[int]:
    return [point.games for point in history(there).of(Entrant(player, 0))]


async def test_rating_gets_a_point_after_each_game(autojump_clock: MockClock) -> None:
    async with house() as there:
        for number in range(1, 4):
            await play(there, ALICE, BOB, winner=ALICE)
            await trio.sleep(MOMENT)
            assert games(there, ALICE) == games(there, BOB) == list(range(1, number + 1))
        await play(there, CAROL, BOB, winner=BOB)
        await trio.sleep(MOMENT)
        assert (games(there, ALICE), games(there, BOB), games(there, CAROL)) == ([1, 2, 3], [1, 2, 3, 4], [1])
        ratings = [point.rating for point in history(there).of(Entrant(ALICE, 0))]
        assert ratings == sorted(ratings)
        assert history(there).complete


async def looked_back(there: House) -> RatingHistory:
    """Return the history once the past is computed, on a real disk and in real time."""
    while not history(there).complete:
        await there.alice.ask("ping")
    return history(there)


async def test_past_is_computed_again_after_a_restart(tmp_path: Path) -> None:
    began = time()
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            there = await housed(daemon)
            await play_some(there)
            await computed(there, 8)
            before = daemon.services.ranked.ratings.ladder
        async with durable_daemon(store) as daemon:
            found = await looked_back(await housed(daemon))
            for entry in before.entries:
                points = found.of(entry.entrant)
                assert [point.games for point in points] == list(range(1, entry.score.games + 1))
                if entry.entrant.player != ALICE:  # who played no game of the last ones
                    assert points[-1][1:] == (entry.rating.rating, entry.rating.deviation, entry.score.games)
                times = [point.time for point in points]
                assert times == sorted(times)
                assert began - 1 <= times[0] <= times[-1] <= time() + 1


async def test_points_of_the_past_are_those_of_the_games_until_then(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            there = await housed(daemon)
            await play(there, ALICE, BOB, winner=ALICE)
            await computed(there, 1)
            first = daemon.services.ranked.ratings.of(ALICE, 0)
            await play(there, BOB, ALICE, winner=BOB)
            await computed(there, 2)
        async with durable_daemon(store) as daemon:
            there = await housed(daemon)
            points = (await looked_back(there)).of(Entrant(ALICE, 0))
            assert [point.games for point in points] == [1, 2]
            assert (points[0].rating, points[0].deviation) == (first.rating, first.deviation)
            await computed(there, 2)
            await play(there, BOB, ALICE, winner=BOB)
            await computed(there, 3)
            assert games(there, ALICE) == [1, 2, 3]


async def test_game_that_ended_after_a_newer_one_keeps_the_points_in_the_order_of_time(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            there = await housed(daemon)
            lobby, now = daemon.lobby, trio.current_time()
            older, newer = [(await lobby.offer(Offer(ALICE, BOB, ranked=True))).game.id for _ in range(2)]
            for game_id in (newer, older):
                for player in (ALICE, BOB):
                    await lobby.accept(game_id, player, now)
                await there.bob.ask("end_game", game_id=game_id, termination="resignation_black")
            await computed(there, 2)
        store.write_beside(_end_the_first_later)
        async with durable_daemon(store) as daemon:
            times = [point.time for point in (await looked_back(await housed(daemon))).of(Entrant(ALICE, 0))]
            assert len(times) == 2
            assert times == sorted(times)


def _end_the_first_later(connection: Connection) -> None:
    connection.exec_driver_sql("UPDATE games SET changed = changed - 1000 WHERE game_id = 2")


@pytest.mark.parametrize("count", [1, 2, MOST_POINTS, MOST_POINTS + 1, 10_000])
def test_curve_keeps_few_points_and_always_the_first_and_the_last(count: int) -> None:
    curve = Curve()
    for number in range(count):
        curve.add(Point(float(number), 1500.0 + number, 50.0, number))
    points = list(curve)
    assert len(points) == len(curve) <= MOST_POINTS
    assert (points[0].games, points[-1].games) == (0, count - 1)
    assert [point.time for point in points] == sorted({point.time for point in points})
    assert all(point == (point.games, 1500 + point.games, 50, point.games) for point in points)


@given(st.integers(1, 10**9), st.integers(0, 10**6))
def test_parts_cover_all_games_once(first: int, more: int) -> None:
    parts = list(parts_of(first, first + more))
    assert len(parts) <= PARTS
    assert (parts[0][0], parts[-1][1]) == (first, first + more)
    assert all(one[1] + 1 == other[0] for one, other in pairwise(parts))
    assert list(parts_of(1, 0)) == []
