"""Endings as types: each ending has one word on the wire, and each word has an ending."""

from __future__ import annotations

from itertools import product
from typing import get_args

import chess
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gm_protocol.endings import (
    TERMINATIONS,
    Cause,
    Ending,
    Termination,
    Victory,
    VoluntaryTermination,
    read_ending,
    result_of,
    termination_of,
)
from gm_protocol.state import COLOR_NAMES, Color, side_of

WORDS = get_args(Termination)
VICTORIES = get_args(Victory)
#: The causes that have a winner, and those of games that never began.
DECISIVE = {Cause.CHECKMATE, Cause.KING_CAPTURE, Cause.RESIGNATION, Cause.TIMEOUT, Cause.FORFEIT}
CALLED_OFF = {Cause.DECLINED, Cause.WITHDRAWN, Cause.EXPIRED}
#: Every combination of a cause with a winner and a claimant, possible or not.
COMBINATIONS = list(product(Cause, (None, chess.WHITE, chess.BLACK), (None, chess.WHITE, chess.BLACK)))


def made(cause: Cause, winner: bool | None, claimant: bool | None) -> Ending | None:
    """Return the ending of a combination, or None if it is impossible."""
    try:
        return Ending(cause, winner, claimant)
    except ValueError:
        return None


def test_table_contains_exactly_the_possible_endings():
    assert {ending for each in COMBINATIONS if (ending := made(*each)) is not None} == set(TERMINATIONS)


def test_every_cause_has_an_ending():
    assert {ending.cause for ending in TERMINATIONS} == set(Cause)


@given(st.sampled_from(COMBINATIONS))
def test_only_a_decided_game_has_a_winner_and_only_a_claimed_draw_a_claimant(combination: tuple):
    cause, winner, claimant = combination
    possible = (winner is not None) == (cause in DECISIVE) and (claimant is not None) == (cause is Cause.DRAW_CLAIM)
    assert (made(*combination) is not None) == possible


def test_words_of_endings_are_exactly_those_of_the_wire():
    assert {*TERMINATIONS.values(), "available_move"} == set(WORDS)


@given(st.sampled_from(WORDS), st.sampled_from(VICTORIES))
def test_every_word_is_read_as_an_ending_with_this_word(word: Termination, victory: Victory):
    assert termination_of(read_ending(word, victory)) == word


@given(st.sampled_from(list(TERMINATIONS)))
def test_every_ending_is_read_back_from_its_word_in_its_variant(ending: Ending):
    victory = ending.cause if ending.cause in VICTORIES else Cause.CHECKMATE
    assert read_ending(ending.termination, victory) == ending


@given(st.sampled_from(WORDS))
def test_kind_of_victory_changes_neither_winner_nor_result(word: Termination):
    one, other = (read_ending(word, victory) for victory in VICTORIES)
    assert result_of(one) == result_of(other)
    assert (one and one.winner) == (other and other.winner)


@given(st.text() | st.sampled_from(["victory", "VICTORY_WHITE", "checkmate", "timeout_green", ""]))
@example("draw")
def test_word_that_is_no_termination_is_refused(word: str):
    if word not in WORDS:
        with pytest.raises(ValueError, match="is not one of PROTOCOL's terminations"):
            read_ending(word)


def test_result_and_loser_follow_from_the_winner_as_in_python_chess():
    for ending in TERMINATIONS:
        decision = chess.Outcome(chess.Termination.VARIANT_DRAW, ending.winner)
        assert ending.result == ("*" if ending.cause in CALLED_OFF else decision.result())
        assert ending.loser == (None if ending.winner is None else not ending.winner)
        assert ending.called_off == (ending.result == "*")


def test_live_game_has_a_word_and_no_result():
    assert (termination_of(None), result_of(None), read_ending("available_move")) == ("available_move", "*", None)


def test_players_end_games_by_resignation_claim_and_agreement():
    causes = {ending.cause for word in get_args(VoluntaryTermination) if (ending := read_ending(word)) is not None}
    assert causes == {Cause.RESIGNATION, Cause.DRAW_CLAIM, Cause.AGREEMENT}


@pytest.mark.parametrize("name", get_args(Color))
def test_sides_are_those_of_python_chess(name: Color):
    assert chess.COLOR_NAMES[side_of(name)] == COLOR_NAMES[side_of(name)] == name
