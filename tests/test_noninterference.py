"""Nothing hidden shows: in two games that look the same to a player, it gets the same bytes, whatever it asks."""

from __future__ import annotations

import random

import pytest
from trio.testing import MockClock

from tests.helpers_proof import proof_size
from tests.noninterference import Told, play_twins, two_rooms
from tests.twin_games import draw_twins


@pytest.mark.proof
async def test_a_player_is_told_the_same_in_games_that_look_the_same(mock_clock: MockClock) -> None:
    pairs = proof_size(60, 10_000)
    different = 0
    async with two_rooms(mock_clock) as rooms:
        for seed in range(pairs):
            rng = random.Random(seed)
            twins = draw_twins(rng)
            different += twins.differ
            try:
                await play_twins(rooms, twins, rng, thorough=seed % 8 == 0)
            except Told as told:
                told.add_note(f"in the games of seed {seed}")
                raise
    assert different > 0.8 * pairs
    assert rooms.compared > 50 * pairs
    print(f"{pairs} pairs, {different} of them of different positions in the end, {rooms.compared} replies compared")
