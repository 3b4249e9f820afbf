"""PGN tags: the standard's termination words where it has them, and our own words in tags of our own."""

from __future__ import annotations

from typing import get_args

import pytest

from gm_protocol.endings import Termination, read_ending, result_of
from gmd.games.notation import pgn_termination

#: Values of section 9.8.1 of the PGN standard.
STANDARD = {
    *("abandoned", "adjudication", "death", "emergency", "normal", "rules infraction", "time forfeit", "unterminated")
}


def test_every_termination_has_a_word_of_the_standard() -> None:
    for termination in get_args(Termination):
        ending = read_ending(termination)
        word = pgn_termination(ending)
        assert word in STANDARD
        assert (word in ("unterminated", "abandoned")) == (result_of(ending) == "*")


@pytest.mark.parametrize(
    ("termination", "word"),
    [
        ("victory_white", "normal"),
        ("draw_agreed", "normal"),
        ("timeout_black", "time forfeit"),
        ("draw_timeout", "time forfeit"),
        ("forfeit_white", "rules infraction"),
        ("draw_move_limit", "adjudication"),
        ("declined", "abandoned"),
        ("available_move", "unterminated"),
    ],
)
def test_termination_word_describes_the_ending(termination: Termination, word: str) -> None:
    assert pgn_termination(read_ending(termination)) == word
