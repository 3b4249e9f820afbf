"""Many pairs of games that look the same to a player, each compared by a test."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from tests.http.rbc import Table
from tests.noninterference import Distinguished
from tests.twin_games import Twins, draw_twins

_T = TypeVar("_T")

Tables = tuple[Table, Table]


async def compare_pairs(
    pairs: int,
    tables: Callable[[], AbstractAsyncContextManager[Tables]],
    compare: Callable[[Tables, Twins, random.Random], Awaitable[_T]],
) -> list[_T]:
    """Compare pairs of games, which a seed for each decides; return what the comparisons returned.

    :param tables: opens the two daemons on which the games of a pair are played.
    :param compare: plays one pair.
    :raises Distinguished: the games of a pair can be observed apart; a note has the seed.
    """
    different, found = 0, list[_T]()
    async with tables() as opened:
        for seed in range(pairs):
            rng = random.Random(seed)
            twins = draw_twins(rng)
            different += twins.differ
            try:
                found.append(await compare(opened, twins, rng))
            except* Distinguished as distinguished:
                distinguished.add_note(f"in the games of seed {seed}")
                raise
    assert different > 0.6 * pairs, "few of the games differ in what is hidden"
    print(f"{pairs} pairs, {different} of them of different positions in the end")
    return found
