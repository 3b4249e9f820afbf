"""The server's response time reveals nothing that a player hides, measured in its own processor time.

The other runs compare the lines that run instead (``test_lines.py``), which no other program disturbs.
"""

from __future__ import annotations

import math

import pytest
from chess import Board

from gmd.games import dark, position
from tests.secrecy.leaks import LEAKS
from tests.secrecy.timing import SCENES, Samples, curve_area, measure_blind_chess, measure_dark_chess

pytestmark = pytest.mark.nightly

#: How many standard errors an area may be from a half. For samples that do not differ, one area in 300,000 is further
#: away; it is 0.03 for 4,000 pairs.
BOUND = 4.65
PAIRS = 4_000

#: The requests that are measured in either variant.
BLIND = {
    "new_game from a guess",
    *(f"{kind} of a guess, as {whom}" for kind in ("state", "actions") for whom in ("the victim", "oneself")),
    *(f"{kind} in a guess" for kind in ("wait", "sense", "move")),
    *(f"{kind} behind a {act}" for kind in ("state", "actions", "wait", "sense", "move") for act in ("sense", "move")),
}
DARK = {f"{kind} {scene}" for kind in ("state", "actions", "move", "wait") for scene in SCENES}


def telling(samples: Samples) -> dict[str, float]:
    """Return the areas that reveal something; the standard error of so many samples is Mann and Whitney's."""
    areas = {request: curve_area(pair) for request, pair in samples.items()}
    pairs = len(next(iter(samples.values()))[0])
    bound = BOUND * math.sqrt((2 * pairs + 1) / (12 * pairs * pairs))
    return {request: area for request, area in areas.items() if abs(area - 0.5) > bound}


def sizes(samples: Samples) -> dict[str, tuple[int, int]]:
    """Return how many samples of either kind there are of each request."""
    return {request: (len(one), len(other)) for request, (one, other) in samples.items()}


async def test_no_hidden_action_changes_the_time_of_a_request() -> None:
    samples = await measure_blind_chess(PAIRS, seed=1)
    assert sizes(samples) == dict.fromkeys(BLIND, (PAIRS, PAIRS))
    assert telling(samples) == {}


async def test_shared_cache_is_found_by_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*LEAKS["the cache of own pieces that all games shared"].patch)
    samples = await measure_blind_chess(400, seed=2)
    assert telling(samples)["state of a guess, as the victim"] < 0.35


async def test_nothing_hidden_in_dark_chess_changes_the_time_of_a_request() -> None:
    samples = await measure_dark_chess(PAIRS, seed=3)
    assert sizes(samples) == dict.fromkeys(DARK, (PAIRS, PAIRS))
    assert telling(samples) == {}


async def test_search_for_en_passant_in_dark_chess_is_found_by_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    def pack_searching(board: Board) -> position.Position:
        position.pack(board)
        return position.pack(board)

    monkeypatch.setattr(dark, "pack_passing", pack_searching)
    samples = await measure_dark_chess(PAIRS, seed=4)
    assert telling(samples).keys() == {"move beside a pawn"}
