"""HTTP reveals nothing hidden to a player at another daemon: in games that look the same, every route answers the same.

The viewer, like its opponent, is connected to a daemon that owns neither the game nor the lobby.
"""

from __future__ import annotations

import random

import pytest
from trio.testing import MockClock

from tests.cluster.http_tables import two_cluster_tables
from tests.helpers_proof import proof_size
from tests.http.many_pairs import compare_pairs
from tests.http.test_event_noninterference import LEAKS, check_all, watch
from tests.http.test_event_noninterference import is_distinguished as streams_are_distinguished
from tests.http.test_rbc_noninterference import OF_ROUTES, SOON, compare_answers, is_distinguished
from tests.twin_games import PASSING_PAWNS, draw_twins

#: The pairs played on two clusters, whose games have at most 256 ids.
PAIRS_PER_CLUSTER = 25


@pytest.mark.long
@pytest.mark.proof
async def test_games_that_look_the_same_are_answered_the_same_at_another_daemon(mock_clock: MockClock) -> None:
    compared = await compare_pairs(
        proof_size(1, 100, share=5),
        two_cluster_tables,
        lambda tables, twins, rng: compare_answers(tables, twins, mock_clock, rng),
        PAIRS_PER_CLUSTER,
    )
    print(f"{sum(compared)} answers compared")


@pytest.mark.proof
async def test_streams_send_the_same_bytes_at_the_same_moments_at_another_daemon(mock_clock: MockClock) -> None:
    watched = await compare_pairs(
        proof_size(1, 100, share=5),
        two_cluster_tables,
        lambda tables, twins, rng: watch(tables, twins, mock_clock, rng),
        PAIRS_PER_CLUSTER,
    )
    check_all(watched)


@pytest.mark.parametrize("leak", ["the position on pages and pictures"])
async def test_leak_of_the_owner_is_detected_at_another_daemon(
    leak: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*OF_ROUTES[leak])
    async with two_cluster_tables() as tables:
        assert await is_distinguished(tables, mock_clock, SOON[leak])


async def test_event_at_each_hidden_sense_is_detected_at_another_daemon(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    LEAKS["an event with a counter at each sense"](monkeypatch)
    rng = random.Random(0)
    twins = draw_twins(rng, [PASSING_PAWNS], limited=False)
    async with two_cluster_tables() as tables:
        assert await streams_are_distinguished(tables, twins, mock_clock, rng)
