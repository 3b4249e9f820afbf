"""The terminations of games, which are described everywhere in the same words."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from gm_arena.endings import CAUSES, ending_words, reason_words, result_words
from gm_arena.match.game import ending
from gm_protocol.endings import Termination
from gm_recon import WinReason
from gm_recon.pgn_reading import REASONS

WORDS = {
    "available_move": "available_move",
    "victory": "checkmate",
    "stalemate": "stalemate",
    "taken_draw": "draw claimed",
    "resignation": "resignation",
    "timeout": "time",
    "forfeit": "illegal move",
    "draw_agreed": "draw agreed",
    "draw_repetition": "threefold repetition",
    "draw_fifty_moves": "fifty moves",
    "draw_material": "insufficient material",
    "draw_move_limit": "move limit",
    "draw_turn_limit": "turn limit",
    "declined": "declined",
    "withdrawn": "withdrawn",
    "expired": "expired",
    "draw_timeout": "time against insufficient material",
}


@pytest.mark.parametrize("termination", get_args(Termination))
def test_every_termination_has_words_and_a_match_uses_the_same(termination: Termination) -> None:
    kind = termination.removesuffix("_white").removesuffix("_black")
    assert ending_words(termination) == WORDS[kind]
    assert ending_words(termination, "rbc") == {**WORDS, "victory": "king captured"}[kind]
    for variant in ("standard", "chess960", "crazyhouse", "rbc"):
        state: Any = {"termination": termination, "variant": variant}
        assert ending(state, {}) == ending_words(termination, variant)


def test_other_words_and_results() -> None:
    for reason in WinReason:
        assert REASONS[CAUSES[reason].value.word] is reason, "a record of blind chess ends as on the server"
        assert reason_words(reason) == CAUSES[reason].value.words
    for other in ("", "normal", "time forfeit", "White mates"):
        assert ending_words(other) == other, "endings of other programs stay as they are"
    assert result_words("1/2-1/2", "draw_turn_limit", "rbc") == "1/2-1/2 turn limit"
