"""Many pairs of games that look the same to a player, each compared by a test."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from tests.http.rbc import Table
from tests.secrecy.paired_daemons import Distinguished
from tests.secrecy.twins import PASSING_PAWNS, Twins, draw_twins

_T = TypeVar("_T")

Tables = tuple[Table, Table]
#: Plays one pair on the two daemons.
Compare = Callable[[Tables, Twins, random.Random], Awaitable[_T]]

#: The numbers of turns of a short game.
SHORT = (2, 3)
#: The seed of short pairs of which the first has true positions that every planted leak tells apart.
SHORT_SEED = 6
#: Enough short pairs for each leak to show.
SHORT_PAIRS = 12


async def compare_pairs(
    pairs: int, tables: Callable[[], AbstractAsyncContextManager[Tables]], compare: Compare[_T]
) -> list[_T]:
    """Compare pairs of games, which a seed for each decides; return what the comparisons returned.

    :param tables: opens the two daemons on which the games of a pair are played.
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


def short_pairs() -> Iterator[tuple[Twins, random.Random]]:
    """Yield short pairs of games whose true positions differ in the end, each with a source of random numbers."""
    rng = random.Random(SHORT_SEED)
    for _ in range(SHORT_PAIRS):
        draws = iter(lambda: draw_twins(rng, [PASSING_PAWNS], limited=False), None)
        yield next(twins for twins in draws if twins.differ and len(twins.turns) in SHORT), rng


async def is_distinguished(tables: Tables, compare: Compare[object]) -> bool:
    """Return whether some short pair of games can be observed apart."""
    found = False
    for twins, rng in short_pairs():
        try:
            await compare(tables, twins, rng)
        except* Distinguished:
            found = True
        if found:
            break
    return found
