"""Why a game ended, in reconchess's words, whatever ended it."""

from __future__ import annotations

from typing import get_args

import pytest
import reconchess

from gm_protocol.endings import TERMINATIONS, Cause, Ending
from gmd.games.recon import WinReason
from gmd.games.recon.reasons import reason_of
from gmd.http.reconchess import WinReasonName, win_reason

#: The ends of games of reconnaissance blind chess.
REASONS = {
    Cause.KING_CAPTURE: "KING_CAPTURE",
    Cause.TIMEOUT: "TIMEOUT",
    Cause.RESIGNATION: "RESIGN",
    Cause.TURN_LIMIT: "TURN_LIMIT",
    Cause.MOVE_LIMIT: "TURN_LIMIT",
    Cause.FIFTY_MOVES: "MOVE_LIMIT",
}


@pytest.mark.parametrize("ending", TERMINATIONS, ids=str)
def test_every_ending_has_reconchess_s_reason_or_none(ending: Ending) -> None:
    reason = win_reason(ending)
    assert (reason and reason.value) == REASONS.get(ending.cause)


def test_a_game_that_is_on_has_no_reason() -> None:
    assert win_reason(None) is None


def test_reasons_are_reconchess_s_and_each_ends_some_game() -> None:
    assert set(REASONS.values()) == set(get_args(WinReasonName)) == {each.name for each in reconchess.WinReason}
    assert {reason for cause in Cause if (reason := reason_of(cause)) is not None} == set(WinReason)
