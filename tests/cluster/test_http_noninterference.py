"""HTTP reveals nothing hidden to a player at another daemon: in games that look the same, every route answers the same.

The viewer, like its opponent, is connected to a daemon that owns neither the game nor the lobby.
"""

from __future__ import annotations

import random

import pytest
from trio.testing import MockClock

from tests.cluster.http_tables import two_cluster_tables
from tests.helpers_proof import proof_size
from tests.http.request_catalogue import routes_of
from tests.http.test_event_noninterference import LEAKS, watch
from tests.http.test_event_noninterference import is_distinguished as streams_are_distinguished
from tests.http.test_rbc_noninterference import OF_ROUTES, is_distinguished
from tests.http.twins import pair_of, play
from tests.noninterference import Distinguished
from tests.twin_games import PASSING_PAWNS, draw_twins

#: The pairs played on two clusters, whose games have at most 256 ids.
PAIRS_PER_CLUSTER = 25


@pytest.mark.proof
async def test_games_that_look_the_same_are_answered_the_same_at_another_daemon(mock_clock: MockClock) -> None:
    pairs = proof_size(1, 100, share=5)
    different = compared = 0
    for first in range(0, pairs, PAIRS_PER_CLUSTER):
        async with two_cluster_tables() as tables:
            for seed in range(first, min(first + PAIRS_PER_CLUSTER, pairs)):
                rng = random.Random(seed)
                twins = draw_twins(rng)
                different += twins.differ
                pair = pair_of(tables, twins, mock_clock, rng)
                try:
                    await play(pair, twins)
                except* Distinguished as distinguished:
                    distinguished.add_note(f"in the games of seed {seed}")
                    raise
                compared += pair.compared
                assert pair.asked == routes_of(tables[0].daemon)  # a new route must be used here too
    assert different > 0.6 * pairs
    print(f"{pairs} pairs, {different} of them of different positions in the end, {compared} answers compared")


@pytest.mark.proof
async def test_streams_send_the_same_bytes_at_the_same_moments_at_another_daemon(mock_clock: MockClock) -> None:
    pairs = proof_size(1, 100, share=5)
    different = compared = received = 0
    for first in range(0, pairs, PAIRS_PER_CLUSTER):
        async with two_cluster_tables() as tables:
            for seed in range(first, min(first + PAIRS_PER_CLUSTER, pairs)):
                rng = random.Random(seed)
                twins = draw_twins(rng)
                different += twins.differ
                try:
                    watched = await watch(tables, twins, mock_clock, rng)
                except* Distinguished as distinguished:
                    distinguished.add_note(f"in the games of seed {seed}")
                    raise
                compared += watched.compared
                received += watched.received
    assert different > 0.6 * pairs
    assert received > 5_000 * pairs
    print(f"{pairs} pairs, {different} of them of different positions in the end, {compared} comparisons of streams")


@pytest.mark.parametrize("leak", ["the position on pages and pictures"])
async def test_leak_of_the_owner_is_detected_at_another_daemon(
    leak: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*OF_ROUTES[leak])
    async with two_cluster_tables() as tables:
        assert await is_distinguished(tables, mock_clock)


async def test_event_at_each_hidden_sense_is_detected_at_another_daemon(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    LEAKS["an event with a counter at each sense"](monkeypatch)
    rng = random.Random(0)
    twins = draw_twins(rng, [PASSING_PAWNS], limited=False)
    async with two_cluster_tables() as tables:
        assert await streams_are_distinguished(tables, twins, mock_clock, rng)
