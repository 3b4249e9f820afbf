"""Resetting single games: those that are named begin anew, with their own random numbers, and no other changes."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest
from numpy.typing import NDArray

from gm_env import HEADER_ROWS, OVER, PASS, TO_MOVE, TO_SENSE, BatchedRbc
from gm_recon import Turn
from tests.env.test_batch import ONE_MOVE, TAKES, everything, everything_of, played

pytestmark = pytest.mark.slow


def turns_of(batch: BatchedRbc, game: int, turns: int) -> list[Turn]:
    """Play this many turns at random, and return a game's."""
    for _ in range(turns):
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())
    return batch.history(game).turns


@pytest.mark.parametrize("games", [[1, 3], (3, 1, 1), np.array([1, 3], np.uint8), np.array([0, 1, 0, 1], np.bool_)])
@pytest.mark.parametrize("seed", [None, 8])
def test_named_games_begin_anew_and_no_other_changes(games: Any, seed: int | None) -> None:
    batch = played(9)
    batch.sense(batch.sample_senses())
    before = [everything_of(batch, game) for game in range(4)]
    batch.reset(seed, games)
    assert [everything_of(batch, game) for game in (0, 2)] == [before[0], before[2]]
    assert batch.phases.tolist() == [TO_MOVE, TO_SENSE, TO_MOVE, TO_SENSE]
    assert [batch.board(game).fen() for game in (1, 3)] == [chess.STARTING_FEN] * 2
    assert batch.plies.tolist() == [9, 0, 9, 0]
    assert (batch.information_states()[[1, 3], HEADER_ROWS:] == -1).all()


def test_one_number_names_one_game() -> None:
    batch = played(3)
    batch.reset(games=2)
    assert batch.plies.tolist() == [3, 3, 0, 3]


def test_no_games_are_no_change() -> None:
    batch = played(3)
    before = everything(batch)
    for games in ([], np.zeros(4, np.bool_)):
        batch.reset(5, games)
        assert everything(batch) == before


def test_seed_gives_a_game_the_same_bits_whatever_the_others_do() -> None:
    wanted = turns_of(BatchedRbc(4, 77), 2, 15)
    for already in (0, 1, 30):
        batch = played(already, seed=already)
        batch.reset(77, [2])
        assert turns_of(batch, 2, 15) == wanted


def test_random_numbers_go_on_without_a_seed() -> None:
    batch, other = played(6), played(6)
    batch.reset(games=[2])
    other.reset(0, [2])
    assert turns_of(batch, 2, 10) != turns_of(other, 2, 10)
    again = played(6)
    again.reset(games=[0, 1, 2])
    assert turns_of(again, 2, 10) == turns_of(batch, 2, 0)[:10]


def test_finished_game_begins_anew_at_once() -> None:
    batch = BatchedRbc(2, fens=ONE_MOVE)
    batch.sense(np.array([0, 0]))
    batch.move(np.array([TAKES, PASS]))
    assert (batch.phases[0], batch.rewards[0].tolist()) == (OVER, [-1, 1])
    batch.reset(games=batch.phases == OVER)
    assert (batch.phases[0], batch.reasons[0], batch.ended[0], batch.episodes[0]) == (TO_SENSE, 0, False, 0)
    assert batch.rewards.tolist() == [[0, 0], [0, 0]]
    assert batch.plies.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("games", "error", "message"),
    [
        ([0, 4], IndexError, "games: there is no game 4; they are 0 to 3"),
        ([-1], IndexError, "games: there is no game -1"),
        (np.ones(3, np.bool_), ValueError, r"games: the mask's shape is \(3,\); it must be \(4,\)"),
        ([[0], [1]], ValueError, r"games: their shape is \(2, 1\)"),
        ([[0], [1, 2]], ValueError, "games: they are no array"),
        ([1.0], TypeError, "games: their type is float64"),
        (np.nan, TypeError, "games: their type is float64"),
    ],
)
def test_games_that_are_none_are_refused_and_nothing_changes(games: Any, error: type[Exception], message: str) -> None:
    batch = played(3)
    before = everything(batch)
    with pytest.raises(error, match=message):
        batch.reset(1, games)
    assert everything(batch) == before


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), (2**64, ValueError), (1.5, TypeError), ("1", TypeError), (np.nan, TypeError)]
)
def test_seed_that_is_none_is_refused_and_nothing_changes(seed: Any, error: type[Exception]) -> None:
    batch = played(3)
    before = everything(batch)
    with pytest.raises(error, match="seed: "):
        batch.reset(seed, [1])
    assert everything(batch) == before


def test_largest_seed_is_taken() -> None:
    batch = BatchedRbc(2)
    batch.reset(np.uint64(2**64 - 1), [1])
    turns: NDArray[np.int64] = batch.sample_senses().copy()
    assert turns[1] == BatchedRbc(2, 2**64 - 1).sample_senses()[1]
