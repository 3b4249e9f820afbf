"""The server's response time reveals nothing that a player hides, measured in its own processor time.

The ordinary run compares the lines that run instead (``tests/test_work.py``), which no other program disturbs.
"""

from __future__ import annotations

import random
from functools import lru_cache

import pytest
from chess import Board
from hypothesis import given
from hypothesis import strategies as st

from gmd.games import dark, own_pieces, position
from tests.dark_timing import SCENES, probe_dark
from tests.timing import Samples, curve_area, probe, standard_error

#: How far an area may be from a half: 0.03 for 4,000 pairs, or 4.65 standard errors. For samples that do not differ,
#: one area in 300,000 is further away.
BOUND = 0.03
PAIRS = 4_000

REQUESTS = {
    "new_game from a guess",
    *(f"{kind} of a guess, as {whom}" for kind in ("state", "actions") for whom in ("the victim", "oneself")),
    *(f"{kind} in a guess" for kind in ("wait", "sense", "move")),
    *(f"{kind} behind a {act}" for kind in ("state", "actions", "wait", "sense", "move") for act in ("sense", "move")),
}


def bound(pairs: int) -> float:
    """Return how far from a half an area of so many pairs may be."""
    return BOUND * standard_error(pairs) / standard_error(4_000)


def telling(samples: Samples) -> dict[str, float]:
    """Return the areas that reveal something."""
    areas = {request: curve_area(pair) for request, pair in samples.items()}
    return {request: area for request, area in areas.items() if abs(area - 0.5) > bound(len(samples[request][0]))}


@pytest.mark.nightly
async def test_no_hidden_action_changes_the_time_of_a_request() -> None:
    samples = await probe(PAIRS, seed=1)
    assert {request: (len(one), len(other)) for request, (one, other) in samples.items()} == dict.fromkeys(
        REQUESTS, (PAIRS, PAIRS)
    )
    assert telling(samples) == {}


@pytest.mark.nightly
async def test_shared_cache_is_found_by_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_pieces, "show_own", lru_cache(4_096)(own_pieces.show_own))
    samples = await probe(400, seed=2)
    assert telling(samples)["state of a guess, as the victim"] < 0.35


@pytest.mark.nightly
async def test_nothing_hidden_in_dark_chess_changes_the_time_of_a_request() -> None:
    samples = await probe_dark(PAIRS, seed=3)
    requests = {f"{kind} {scene}" for kind in ("state", "actions", "move", "wait") for scene in SCENES}
    assert {request: (len(one), len(other)) for request, (one, other) in samples.items()} == dict.fromkeys(
        requests, (PAIRS, PAIRS)
    )
    assert telling(samples) == {}


@pytest.mark.nightly
async def test_search_for_en_passant_in_dark_chess_is_found_by_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    def pack_searching(board: Board) -> position.Position:
        position.pack(board)
        return position.pack(board)

    monkeypatch.setattr(dark, "pack_passing", pack_searching)
    samples = await probe_dark(PAIRS, seed=4)
    assert telling(samples).keys() == {"move beside a pawn"}


values = st.lists(st.integers(0, 9), min_size=1, max_size=30)


@given(values, values)
def test_area_is_how_often_one_kind_is_larger_than_the_other(without: list[int], behind: list[int]) -> None:
    wins = sum((larger > smaller) + (larger == smaller) / 2 for larger in behind for smaller in without)
    assert curve_area((without, behind)) == pytest.approx(wins / len(without) / len(behind))


def test_bound_is_wider_for_fewer_samples() -> None:
    assert bound(4_000) == BOUND
    assert round(bound(400), 3) == 0.095
    rng = random.Random("same")
    same = [rng.random() for _ in range(800)]
    assert abs(curve_area((same[:400], same[400:])) - 0.5) < bound(400)
