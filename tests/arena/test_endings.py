"""How games ended is said in one set of words."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from gm_arena.endings import ending_words, result_words
from gm_arena.match.game import ending
from gm_bots.play.blind import words
from gm_protocol.endings import read_ending, result_of
from gm_protocol.state import Termination

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
}


@pytest.mark.parametrize("termination", get_args(Termination))
def test_every_termination_has_words_and_a_match_has_the_same(termination: Termination) -> None:
    kind = termination.removesuffix("_white").removesuffix("_black")
    assert ending_words(termination) == WORDS[kind]
    assert ending_words(termination, "rbc") == {**WORDS, "victory": "king captured"}[kind]
    for variant in ("standard", "chess960", "crazyhouse", "rbc"):
        state: Any = {"termination": termination, "variant": variant}
        assert ending(state, {}) == ending_words(termination, variant)


@pytest.mark.parametrize("other", ["", "normal", "time forfeit", "White mates"])
def test_what_other_programs_say_stays_as_it_is(other: str) -> None:
    assert ending_words(other) == other


def test_result_stands_before_it() -> None:
    assert result_words("1/2-1/2", "draw_turn_limit", "rbc") == "1/2-1/2 turn limit"


DRAWN = [word for word in get_args(Termination) if result_of(read_ending(word)) == "1/2-1/2"]


@pytest.mark.parametrize("termination", DRAWN)
def test_a_draw_is_named_so_to_a_player_of_blind_chess(termination: str) -> None:
    assert words.of_end("1/2-1/2", termination) == f"Draw: 1/2-1/2, {ending_words(termination)}"
