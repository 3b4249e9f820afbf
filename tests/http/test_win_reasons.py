"""The reason for a game's end, in reconchess's words."""

from __future__ import annotations

from typing import get_args

import pytest
import reconchess

from gm_protocol.endings import TERMINATIONS, Cause, Ending
from gm_recon import WinReason
from gm_recon.pgn_reading import read_pgn
from gmd.games.rbc_record import reason_of
from gmd.http.reconchess import WinReasonName, win_reason

#: Causes that end games of reconnaissance blind chess.
REASONS = {
    Cause.KING_CAPTURE: "KING_CAPTURE",
    Cause.TIMEOUT: "TIMEOUT",
    Cause.RESIGNATION: "RESIGN",
    Cause.TURN_LIMIT: "TURN_LIMIT",
    Cause.MOVE_LIMIT: "TURN_LIMIT",
    Cause.FIFTY_MOVES: "MOVE_LIMIT",
}


@pytest.mark.parametrize("ending", TERMINATIONS, ids=str)
def test_every_ending_of_blind_chess_has_the_reason_of_reconchess_and_others_are_refused(ending: Ending) -> None:
    if ending.called_off:
        assert win_reason(ending) is None
    elif ending.cause in REASONS:
        reason = win_reason(ending)
        assert reason is not None
        assert reason.value == REASONS[ending.cause]
    else:
        with pytest.raises(ValueError, match=f"^no game of rbc ends by {ending.cause.name}$"):
            win_reason(ending)


def test_live_game_has_no_reason() -> None:
    assert win_reason(None) is None


def test_reasons_are_those_of_reconchess_and_each_is_used() -> None:
    assert set(REASONS.values()) == set(get_args(WinReasonName)) == {each.name for each in reconchess.WinReason}
    assert {reason_of(cause) for cause in REASONS} == set(WinReason)


@pytest.mark.parametrize("ending", [ending for ending in TERMINATIONS if ending.cause in REASONS], ids=str)
def test_pgn_reader_reads_the_reason_of_every_termination_of_blind_chess(ending: Ending) -> None:
    history = read_pgn(f'[GmdTermination "{ending.termination}"]\n\n{ending.result}\n').history
    assert history.win_reason is not None
    assert history.win_reason.name == REASONS[ending.cause]
