"""Endings as types: each has one word on the wire, and each word is that of an ending."""

from __future__ import annotations

from itertools import product
from typing import get_args

import chess
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gm_protocol.endings import (
    CALLED_OFF,
    DECISIVE,
    TERMINATIONS,
    Cause,
    Ending,
    Victory,
    read_ending,
    result_of,
    termination_of,
)
from gm_protocol.messages import VoluntaryTermination
from gm_protocol.state import COLOR_NAMES, Color, Termination, side_of

WORDS = get_args(Termination)
VICTORIES = get_args(Victory)
#: Every combination of a cause with a winner and a claimant, possible or not.
COMBINATIONS = list(product(Cause, (None, chess.WHITE, chess.BLACK), (None, chess.WHITE, chess.BLACK)))


def made(cause: Cause, winner: bool | None, claimant: bool | None) -> Ending | None:
    """Return the ending of a combination; None where there can be none."""
    try:
        return Ending(cause, winner, claimant)
    except ValueError:
        return None


def test_every_ending_that_can_be_made_has_a_word_and_the_table_has_no_other():
    assert {ending for each in COMBINATIONS if (ending := made(*each)) is not None} == set(TERMINATIONS)


def test_every_cause_ends_some_game():
    assert {ending.cause for ending in TERMINATIONS} == set(Cause)


@given(st.sampled_from(COMBINATIONS))
def test_only_a_decided_game_has_a_winner_and_only_a_claimed_draw_a_claimant(combination: tuple):
    cause, winner, claimant = combination
    possible = (winner is not None) == (cause in DECISIVE) and (claimant is not None) == (cause is Cause.DRAW_CLAIM)
    assert (made(*combination) is not None) == possible


def test_words_of_endings_are_those_of_the_wire_and_no_others():
    assert {*TERMINATIONS.values(), "available_move"} == set(WORDS)


@given(st.sampled_from(WORDS), st.sampled_from(VICTORIES))
def test_every_word_reads_as_an_ending_that_has_this_word(word: Termination, victory: Victory):
    assert termination_of(read_ending(word, victory)) == word


@given(st.sampled_from(list(TERMINATIONS)))
def test_every_ending_reads_back_from_its_word_in_its_variant(ending: Ending):
    victory = ending.cause if ending.cause in VICTORIES else Cause.CHECKMATE
    assert read_ending(ending.termination, victory) == ending


@given(st.sampled_from(WORDS))
def test_what_a_victory_is_changes_no_winner_and_no_result(word: Termination):
    one, other = (read_ending(word, victory) for victory in VICTORIES)
    assert result_of(one) == result_of(other)
    assert (one and one.winner) == (other and other.winner)


@given(st.text() | st.sampled_from(["victory", "VICTORY_WHITE", "checkmate", "timeout_green", ""]))
@example("draw")
def test_words_that_are_no_termination_are_refused_with_the_word(word: str):
    if word not in WORDS:
        with pytest.raises(ValueError, match="is not one of PROTOCOL's terminations"):
            read_ending(word)


@pytest.mark.parametrize("ending", TERMINATIONS, ids=str)
def test_result_and_loser_follow_from_the_winner_as_in_python_chess(ending: Ending):
    decision = chess.Outcome(chess.Termination.VARIANT_DRAW, ending.winner)
    assert ending.result == ("*" if ending.cause in CALLED_OFF else decision.result())
    assert ending.loser == (None if ending.winner is None else not ending.winner)
    assert ending.called_off == (ending.result == "*")


def test_a_game_that_is_on_has_a_word_and_no_result():
    assert (termination_of(None), result_of(None), read_ending("available_move")) == ("available_move", "*", None)


def test_players_end_games_by_resignation_claim_and_agreement():
    causes = {ending.cause for word in get_args(VoluntaryTermination) if (ending := read_ending(word)) is not None}
    assert causes == {Cause.RESIGNATION, Cause.DRAW_CLAIM, Cause.AGREEMENT}


@pytest.mark.parametrize("name", get_args(Color))
def test_sides_are_python_chess_s(name: Color):
    assert chess.COLOR_NAMES[side_of(name)] == COLOR_NAMES[side_of(name)] == name
