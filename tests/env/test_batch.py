"""Stepping a batch: finished games, skipped games, random actions and their seeds."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import chess
import numpy as np
import pytest
from numpy.typing import NDArray

from gm_env import MOVES, OVER, PASS, RESTING, SENSE_PASS, SKIP, TO_MOVE, TO_SENSE, BatchedRbc, action_of
from gm_env.games import Games
from gm_recon import ReconGame

pytestmark = pytest.mark.slow

#: The arrays that a batch shows.
ATTRIBUTES = sorted(Games.__annotations__)
#: A position in which White's next move takes the king.
ONE_MOVE = "k7/1P6/8/8/8/8/8/K7 w - - 0 1"
TAKES = action_of(chess.Move.from_uci("b7a8q"), chess.WHITE)


def everything_of(batch: BatchedRbc, game: int) -> list[object]:
    """Return all that a game is and shows, its random numbers included."""
    views = [batch.masks(), batch.observations(), batch.information_states(), *batch.privileged_rows]
    shown = [getattr(batch, name) for name in ATTRIBUTES]
    return [batch.history(game), *(array[game].tobytes() for array in [*views, *shown])]


def everything(batch: BatchedRbc) -> list[list[object]]:
    return [everything_of(batch, game) for game in range(batch.n)]


def played(turns: int, n: int = 4, seed: int = 0, **options: Any) -> BatchedRbc:
    batch = BatchedRbc(n, seed, **options)
    for _ in range(turns):
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())
    return batch


# --- Finished and skipped games -----------------------------------------------------------------------------------


def test_finished_game_begins_anew_in_a_turn_of_its_own() -> None:
    batch = BatchedRbc(2, fens=[ONE_MOVE, chess.STARTING_FEN])
    batch.sense(np.array([0, 0]))
    rewards, ended = batch.move(np.array([TAKES, PASS]))
    assert rewards.tolist() == [[-1, 1], [0, 0]]
    assert ended.tolist() == [True, False]
    assert batch.phases.tolist() == [OVER, TO_SENSE]
    assert batch.history(0).winner is chess.WHITE  # it stays as it is
    windows = batch.sense(np.array([63, 0]))  # the first is ignored
    assert windows[0].tolist() == [15] * 9
    assert batch.phases.tolist() == [RESTING, TO_MOVE]
    assert (rewards.any(), ended.any()) == (False, False)
    batch.move(np.array([PASS, PASS]))
    assert batch.phases.tolist() == [TO_SENSE, TO_SENSE]
    assert batch.episodes.tolist() == [1, 0]
    assert batch.board(0).fen() == ONE_MOVE
    batch.sense(np.array([0, 0]))
    assert batch.move(np.array([TAKES, PASS]))[1].tolist() == [True, False]


def test_finished_game_stays_without_autoreset() -> None:
    batch = BatchedRbc(1, fens=ONE_MOVE, autoreset=False)
    batch.sense(np.array([0]))
    batch.move(np.array([TAKES]))
    fen = batch.board(0).fen()
    for _ in range(2):
        batch.sense(batch.sample_senses())
        rewards, ended = batch.move(batch.sample_moves())
        assert (rewards.any(), ended.any()) == (False, False)
    assert (batch.board(0).fen(), batch.phases[0]) == (fen, OVER)
    batch.reset()
    assert (batch.board(0).fen(), batch.phases[0], batch.reasons[0]) == (ONE_MOVE, TO_SENSE, 0)


def test_skipped_games_do_not_change() -> None:
    batch = played(5)
    drawn = batch.copy()
    for _ in range(3):
        senses = batch.sample_senses().copy()
        senses[1] = SKIP
        batch.sense(senses)
        moves = batch.sample_moves().copy()
        moves[1] = SKIP
        batch.move(moves)
        drawn.sample_senses(games=1)  # the sampler counts its numbers
        drawn.sample_moves(games=1)
    assert everything_of(batch, 1) == everything_of(drawn, 1)
    assert batch.plies.tolist() == [8, 5, 8, 8]


def test_skipped_finished_game_is_not_begun_anew() -> None:
    batch = BatchedRbc(1, fens=ONE_MOVE)
    batch.sense(np.array([0]))
    batch.move(np.array([TAKES]))
    batch.sense(np.array([SKIP]))
    batch.move(np.array([SKIP]))
    assert (batch.phases[0], batch.ended[0]) == (OVER, False)


def test_records_grow_with_a_long_game() -> None:
    batch = BatchedRbc(2, fens="4k3/8/8/8/8/8/8/4K3 w - - 0 1", reversible_moves=None)
    for _ in range(700):
        batch.sense(np.array([SENSE_PASS, 0]))
        batch.move(np.array([PASS, PASS]))
    assert batch.plies.tolist() == [700, 700]
    assert len(batch.history(0).turns) == 700
    assert {turn.sense for turn in batch.history(0).turns} == {None}


# --- Random actions -------------------------------------------------------------------------------------------------


def test_same_seed_makes_the_same_games_on_every_platform() -> None:
    """The digest is of the states after 200 turns, in a fixed order of bytes: no platform may find another."""
    batch = played(200, n=16, seed=2**63 + 11)
    states, numbers = batch.privileged_rows
    digest = hashlib.sha256(states[:, :14].astype("<u8").tobytes() + numbers.astype("<i4").tobytes())
    assert digest.hexdigest() == "e058af26ea54303eca344c7d302606308687886fd5fb7e549fe650566c8b8e2b"
    assert batch.episodes.sum() > 16


def test_logits_make_the_same_draws_on_every_platform() -> None:
    batch = BatchedRbc(8, 5)
    drawn = []
    for turn in range(40):
        # Exact in float32: every platform has the same logits.
        senses = (np.arange(8 * 64).reshape(8, 64) * 37 % 101 / 16).astype(np.float32)
        moves = (np.arange(8 * MOVES).reshape(8, MOVES) * (turn + 1) % 97 / 16).astype(np.float32)
        batch.sense(batch.sample_senses(senses))
        drawn.append(batch.sample_moves(moves).copy())
        batch.move(drawn[-1])
    digest = hashlib.sha256(np.array(drawn).astype("<i8").tobytes())
    assert digest.hexdigest() == "780dccbb194eedba6f9b98c860af9bfd07c01a36461f51c2765794f0498cd177"


def test_games_of_a_batch_and_seeds_differ() -> None:
    batch, other = played(1, n=200, seed=1), played(1, n=200, seed=2)
    assert len({row.tobytes() for row in batch.results}) > 10
    assert (batch.results[:, 0] != other.results[:, 0]).any()


def test_game_draws_the_same_whatever_its_neighbours_are() -> None:
    few, many = played(30, n=3, seed=9), played(30, n=50, seed=9)
    assert few.history(2).turns == many.history(2).turns


def test_reset_with_a_seed_begins_the_random_numbers_anew() -> None:
    batch = played(20, seed=4)
    turns = batch.history(0).turns
    batch.reset()
    batch.reset(4)
    for _ in range(20):
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())
    assert batch.history(0).turns == turns


def counts_of(batch: BatchedRbc, logits: NDArray[np.float32] | None, times: int) -> Counter[int]:
    counts: Counter[int] = Counter()
    for _ in range(times):
        counts.update(batch.sample_moves(logits).tolist())
    return counts


def test_moves_are_drawn_alike() -> None:
    batch = BatchedRbc(1000, 3)
    batch.sense(batch.sample_senses())
    counts = counts_of(batch, None, 36)
    legal = set(np.flatnonzero(batch.masks()[0]).tolist())
    assert set(counts) == legal
    expected = 36_000 / len(legal)
    # The 99.99th percentile of chi squared with 35 degrees of freedom is 75.
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 75 * (len(legal) - 1) / 35


def test_moves_are_drawn_by_their_logits() -> None:
    batch = BatchedRbc(1000, 3)
    batch.sense(batch.sample_senses())
    legal = np.flatnonzero(batch.masks()[0])
    logits = np.full((1000, MOVES), 50, np.float32)  # of what is not legal
    logits[:, legal] = -np.inf
    wanted = {int(legal[0]): 0.5, int(legal[7]): 0.3, PASS: 0.2}
    for action, probability in wanted.items():
        logits[:, action] = np.log(probability) + 300
    counts = counts_of(batch, logits, 30)
    assert set(counts) == set(wanted)
    assert all(abs(counts[action] / 30_000 - probability) < 0.012 for action, probability in wanted.items())


def test_senses_are_drawn_by_their_logits() -> None:
    batch = BatchedRbc(500, 3)
    logits = np.full((500, 65), -np.inf, np.float32)
    logits[:, [3, SENSE_PASS]] = 1.0
    assert set(batch.sample_senses(logits).tolist()) == {3, SENSE_PASS}
    assert len(set(batch.sample_senses().tolist())) > 60


def test_logits_may_be_slices_and_read_only() -> None:
    batch = BatchedRbc(2)
    batch.sense(batch.sample_senses())
    logits = np.zeros((4, 2 * MOVES), np.float32)[::2, ::2]
    logits.flags.writeable = False
    assert (batch.masks()[[0, 1], batch.sample_moves(logits)] == 1).all()


def test_named_games_draw_and_no_other_random_number_is_used() -> None:
    batch, other = BatchedRbc(3, 5), BatchedRbc(3, 5)
    assert batch.sample_senses(games=[1]).tolist() == [SKIP, other.sample_senses().copy()[1], SKIP]
    drawn = other.sample_senses()
    assert batch.sample_senses(games=np.array([False, True, False]))[1] == drawn[1]
    other.reset(5)
    assert batch.sample_senses()[[0, 2]].tolist() == other.sample_senses()[[0, 2]].tolist()
    batch.sense(np.zeros(3, np.int64))
    assert (batch.sample_moves(games=[]) == SKIP).all()
    logits = np.zeros((3, MOVES), np.float32)
    assert (batch.sample_moves(logits, games=2) == SKIP).tolist() == [True, True, False]
    with pytest.raises(IndexError, match="there is no game 3"):
        batch.sample_moves(games=[3])


def test_loaded_game_has_its_own_windows_and_results() -> None:
    batch, game = played(3, 2, seed=5), ReconGame()
    batch.sense(np.array([43, 43]))
    other = batch.results[1].tolist(), batch.windows[1].tolist()
    game.sense(chess.E7)
    batch.load(0, game.history())
    fresh = BatchedRbc.from_histories([game.history()])
    assert batch.windows[0].tolist() == fresh.windows[0].tolist()
    assert batch.windows[0].tolist() != [15] * 9
    assert batch.results[0].tolist() == fresh.results[0].tolist() == [PASS, PASS, -1]
    assert (batch.results[1].tolist(), batch.windows[1].tolist()) == other


def test_game_that_begins_anew_has_no_results() -> None:
    batch = BatchedRbc(1, fens=ONE_MOVE)
    batch.sense(np.array([0]))
    batch.move(np.array([TAKES]))
    assert batch.results[0].tolist() == [TAKES, TAKES, chess.A8]
    batch.sense(np.array([0]))
    assert batch.results[0].tolist() == [PASS, PASS, -1]


def test_arrays_are_read_only_and_cannot_be_made_writable() -> None:
    batch = BatchedRbc(2)
    shown = [getattr(batch, name) for name in ATTRIBUTES]
    views = (batch.masks, batch.observations, batch.information_states, batch.privileged_state)
    for array in (*shown, *(view(copy=False) for view in views)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


@pytest.mark.parametrize("name", ["masks", "observations", "information_states", "privileged_state"])
def test_views_are_new_arrays_unless_they_are_asked_not_to_be(name: str) -> None:
    batch = BatchedRbc(2)
    view = getattr(batch, name)
    first, kept = view(), view(copy=False)
    before = first.copy()
    assert np.array_equal(first, kept)
    for _ in range(4):
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())
    second = view()
    assert np.array_equal(first, before)
    assert not np.array_equal(second, before)
    second[:] = 0
    assert np.shares_memory(view(copy=False), kept)
    assert np.array_equal(kept, view())
