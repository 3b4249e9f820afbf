"""Blind chess and Dark chess show nothing hidden: in two games that look the same to a player, the player gets the same
bytes, whatever it asks.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from trio.testing import MockClock

from gm_protocol.messages import REQUESTS
from tests.proofs import cases, in_processes
from tests.secrecy.leaks import LEAKS
from tests.secrecy.noninterference import play_pairs, play_twins, quiet
from tests.secrecy.paired_daemons import OBSERVER, OPPONENT, Distinguished, PairedDaemons, paired_daemons
from tests.secrecy.request_catalogue import Seat
from tests.secrecy.twins import KNIGHTS, PASSING_PAWNS, draw_twins

#: The pairs of games played on one pair of daemons, whose listings grow with every game.
PAIRS_PER_DAEMONS = 250

#: Start positions in which much is soon hidden.
TELLING = {"rbc": [PASSING_PAWNS], "dark_chess": [PASSING_PAWNS, KNIGHTS]}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with quiet():
        yield


@pytest.mark.parametrize("variant", ["rbc", pytest.param("dark_chess", marks=pytest.mark.slow)])
def test_player_gets_same_bytes_in_games_that_look_the_same(variant: str) -> None:
    pairs = cases(10)
    jobs = [(variant, first, min(PAIRS_PER_DAEMONS, pairs - first)) for first in range(0, pairs, PAIRS_PER_DAEMONS)]
    counts = list(in_processes(play_pairs, jobs))
    played, different, compared = map(sum, zip(*counts, strict=True))
    assert played == pairs
    assert different > 0.6 * pairs
    assert compared > 50 * pairs
    print(f"{pairs} pairs, {different} of them of different positions in the end, {compared} replies compared")


def test_player_asks_requests_of_every_kind() -> None:
    seat = Seat(random.Random(1), 7, OBSERVER, OPPONENT, "white", "rbc", made_by={"kind": "new_game"})
    asked = {request["kind"] for request in (*seat.everything(), *seat.greetings())}
    assert set(REQUESTS) - asked == set()


PLANTED = [
    (leak, variant, first)
    for leak, planted in LEAKS.items()
    if "replies" in planted.found_in
    for variant, first in zip(planted.variants, planted.first or [0] * len(planted.variants), strict=True)
]


@pytest.mark.parametrize(
    ("leak", "variant", "first"), [PLANTED[0], *(pytest.param(*each, marks=pytest.mark.slow) for each in PLANTED[1:])]
)
async def test_planted_leak_is_found(
    leak: str, variant: str, first: int, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*LEAKS[leak].patch)
    async with paired_daemons(mock_clock) as daemons:
        assert await is_distinguished(daemons, variant, pairs=100, first=first)


async def is_distinguished(daemons: PairedDaemons, variant: str, pairs: int, first: int) -> bool:
    """Return whether some pair of games can be told apart; every fourth pair is without limits, the others play two at
    once with some.

    :param first: the seed of the pair that is tried first.
    """
    for seed in sorted(range(pairs), key=lambda seed: seed != first):
        rng = random.Random(seed)
        limited = seed % 4 > 0
        games = [draw_twins(rng, TELLING[variant], variant=variant, limited=limited) for _ in range(1 + limited)]
        try:
            await play_twins(daemons, games, rng, thorough=False)
        except Distinguished:
            return True
    return False
