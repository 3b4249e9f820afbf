"""Words on pages: results, clocks and variants."""

from __future__ import annotations

from typing import get_args

import pytest

from gm_protocol.endings import Cause, Termination
from gm_protocol.options import Variant
from gmd.games.variants import VARIANTS
from gmd.http.pages.words import clock_text, result_words


def test_every_termination_has_words_in_every_variant() -> None:
    for variant in get_args(Variant):
        for termination in get_args(Termination):
            words = result_words(termination, variant)
            assert (words == "") == (termination == "available_move")


@pytest.mark.parametrize("variant", get_args(Variant))
def test_victory_has_the_words_of_the_variants_rules(variant: Variant) -> None:
    won = {Cause.CHECKMATE: "by checkmate", Cause.KING_CAPTURE: "by king capture"}
    assert result_words("victory_white", variant) == f"White won {won[VARIANTS[variant].victory]}"


@pytest.mark.parametrize(
    ("termination", "variant", "words"),
    [
        ("victory_white", "standard", "White won by checkmate"),
        ("victory_black", "rbc", "Black won by king capture"),
        ("timeout_white", "rbc", "Black won on time"),
        ("resignation_black", "crazyhouse", "White won by resignation"),
        ("taken_draw_black", "standard", "Draw claimed by Black"),
        ("draw_repetition", "standard", "Draw by threefold repetition"),
        ("draw_timeout", "standard", "Draw on time against insufficient material"),
        ("expired", "rbc", "The invitation has expired"),
    ],
)
def test_result_is_said_in_words(termination: str, variant: str, words: str) -> None:
    assert result_words(termination, variant) == words


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (-3.0, "0.0"), (0.04, "0.0"), (9.99, "9.9"), (10.0, "0:10"), (245.9, "4:05"), (3723.0, "1:02:03")],
)
def test_clock_is_never_shown_with_more_time_than_there_is(seconds: float | None, text: str) -> None:
    assert clock_text(seconds) == text
