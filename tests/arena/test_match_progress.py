"""The progress bar that a match shows on a terminal."""

from __future__ import annotations

import re

import pytest

from tests.arena.matches import AT_RANDOM, PATIENCE, SHORT, command, nuisance
from tests.terminal import plain, shown

pytestmark = pytest.mark.slow


def test_progress_bar_shows_the_score_after_every_game() -> None:
    """One of the two quits every game, so the other gains a point each time, and the bar is drawn again."""
    arguments = command(f"one={AT_RANDOM}", nuisance("die"), *SHORT, "--games", 8)
    said = plain(shown(arguments, patience=PATIENCE, COLUMNS="140", LINES="40"))
    scores = re.findall(r"one \+(\d) =(\d) -(\d)[^\r\n]*?(\d)/8", said)
    assert scores[-1] == ("8", "0", "0", "8")
    assert {int(played) for *_, played in scores} == set(range(9))
    assert all(won == played and (drawn, lost) == ("0", "0") for won, drawn, lost, played in scores)
    assert "game 1: one - die 1-0, crash" in said
    assert "0:00:0" in said, "the time that it has taken"
