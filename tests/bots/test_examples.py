"""The six example bots play whole games, and win and lose: a class's tournament of them has an order."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations

import chess
import pytest

from gm_bots.examples import Grabber, Hunter, Rusher, Trader, Wanderer, Watcher
from gm_recon import WinReason, play_local

BOTS = (Wanderer, Grabber, Rusher, Watcher, Trader, Hunter)


@pytest.mark.slow
def test_example_bots_decide_their_games_by_taking_a_king() -> None:
    random.seed(47)
    points, reasons = Counter[str](), Counter[WinReason | None]()
    for white, black in permutations(BOTS, 2):
        history = play_local(white(), black(), max_turns=100)
        reasons[history.win_reason] += 1
        if history.winner is not None:
            points[(white if history.winner == chess.WHITE else black).__name__] += 1
    assert reasons[WinReason.KING_CAPTURE] >= 25  # of 30 games
    assert points["Wanderer"] == min(points[bot.__name__] for bot in BOTS)
    assert len(set(points.values())) > 2
