"""Bad input to a batch: it is refused by name, and changes nothing."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import chess
import numpy as np
import pytest

from gm_env import MOVES, OVER, PASS, SENSE_PASS, SKIP, TO_MOVE, BatchedRbc, IllegalAction
from tests.env.test_batch import everything, played

pytestmark = pytest.mark.slow

LATE = "4k3/8/8/8/8/8/8/4K3 w - - 0 80"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 0}, ValueError, "n: 0 is less than 1"),
        ({"n": "2"}, TypeError, "n: '2' is not an integer"),
        ({"seed": -1}, ValueError, "seed: -1"),
        ({"seed": 2**64}, ValueError, "seed: 18446744073709551616"),
        ({"seed": None}, TypeError, "seed: None is not an integer"),
        ({"max_turns": 0}, ValueError, "max_turns: 0"),
        ({"max_turns": 2**31}, ValueError, "max_turns: 2147483648"),
        ({"max_turns": np.nan}, TypeError, "max_turns: nan is not an integer"),
        ({"reversible_moves": 0}, ValueError, "reversible_moves: 0"),
        ({"reversible_moves": "100"}, TypeError, "reversible_moves: '100' is not an integer"),
        ({"recall": 0}, ValueError, "recall: 0 is less than 1"),
        ({"recall": 2.5}, TypeError, "recall: 2.5 is not an integer"),
        ({"fens": [chess.STARTING_FEN]}, ValueError, "fens: there are 1 for 2 games"),
        ({"fens": [chess.STARTING_FEN, None]}, TypeError, "fens: None is no text"),
        ({"fens": "8/8/8/8/8/8/8/8 w - - 0 1"}, ValueError, "no position to start from"),
        ({"fens": LATE.replace("0 80", "100 80")}, ValueError, "fens: '.* 100 80' has reached reversible_moves"),
        ({"fens": LATE, "max_turns": 79}, ValueError, "max_turns"),
        ({"fens": LATE.replace("80", "99999999999")}, ValueError, "fens: .* counts more than 1073741824 moves"),
    ],
)
def test_invalid_arguments_are_named(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        BatchedRbc(**{"n": 2, **options})


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        (np.zeros(2), TypeError, "actions: their type is float64"),
        (np.zeros(2, np.bool_), TypeError, "actions: their type is bool"),
        (np.zeros(2, np.uint64), TypeError, "actions: their type is uint64"),
        ([[0], [0, 1]], ValueError, "actions: they are no array"),
        ([10**30, 0], TypeError, "actions: their type is object"),
        (None, TypeError, "actions: their type is object"),
        (np.zeros(3, np.int64), ValueError, r"actions: their shape is \(3,\); it must be \(2,\)"),
        (np.zeros((2, 1), np.int64), ValueError, r"actions: their shape is \(2, 1\)"),
        (np.int64(0), ValueError, r"actions: their shape is \(\)"),
    ],
)
def test_actions_of_a_wrong_type_or_shape_are_refused(actions: Any, error: type[Exception], message: str) -> None:
    batch = played(3, n=2)
    before = everything(batch)
    for step in (batch.sense, batch.move):
        with pytest.raises(error, match=message):
            step(actions)
    assert everything(batch) == before


@pytest.mark.parametrize("action", [-(2**63), -2, SENSE_PASS + 1, PASS, 2**32, 2**63 - 1])
def test_illegal_sense_names_game_and_action_and_changes_nothing(action: int) -> None:
    batch = played(3)
    before = everything(batch)
    with pytest.raises(IllegalAction, match=f"game 2 does not allow {action}: Black is to sense") as raised:
        batch.sense(np.array([0, 1, action, 3]))
    assert (raised.value.game, raised.value.action) == (2, action)
    assert everything(batch) == before


@pytest.mark.parametrize("action", [-2, PASS + 1, 10**18, -(10**18), 7 * 64, 64 * 56 + 63])
def test_illegal_move_names_game_and_action_and_changes_nothing(action: int) -> None:
    batch = BatchedRbc(3)
    batch.sense(np.zeros(3, np.int64))
    before = everything(batch)
    with pytest.raises(IllegalAction, match=f"game 1 does not allow {action}: White is to move") as raised:
        batch.move(np.array([PASS, action, PASS]))
    assert (raised.value.game, raised.value.action) == (1, action)
    assert everything(batch) == before


def test_illegal_action_is_the_same_in_another_process() -> None:
    with pytest.raises(IllegalAction) as raised:
        BatchedRbc(1).move(np.array([PASS]))
    error = raised.value
    error.add_note("in worker 3")
    for other in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(other) is IllegalAction
        assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))


def test_every_number_that_is_not_listed_is_refused() -> None:
    batch = BatchedRbc(1)
    batch.sense(np.array([0]))
    before = everything(batch)
    for action in np.flatnonzero(batch.masks()[0] == 0).tolist():
        with pytest.raises(IllegalAction):
            batch.move(np.array([action]))
    assert everything(batch) == before


def test_action_of_the_other_phase_is_refused_before_any_game_has_changed() -> None:
    batch = BatchedRbc(4)
    with pytest.raises(IllegalAction, match="game 0 does not allow 4672: White is to sense"):
        batch.move(np.full(4, PASS))
    batch.sense(np.array([1, SKIP, 2, 3]))
    before = everything(batch)
    with pytest.raises(IllegalAction) as raised:
        batch.move(np.array([PASS, PASS, PASS, 2**40]))
    assert (raised.value.game, raised.value.action) == (1, PASS)
    with pytest.raises(IllegalAction) as raised:
        batch.sense(np.array([SKIP, 1, SKIP, 1]))
    assert (raised.value.game, raised.value.action) == (3, 1)
    assert everything(batch) == before


def test_all_integers_slices_and_read_only_arrays_are_taken() -> None:
    wanted = BatchedRbc(np.int64(3), np.uint64(2**64 - 1), max_turns=np.int8(80), recall=np.uint16(3))
    wanted.sense(np.array([1, 2, 3]))
    frozen = np.array([1, 2, 3], np.uint8)
    frozen.flags.writeable = False
    reverse, column = np.array([3, 2, 1], np.int8)[::-1], np.asfortranarray(np.arange(12).reshape(4, 3))[:3, 0] // 3 + 1
    for actions in ([1, 2, 3], frozen, reverse, column, np.array([1, 2, 3], ">i4"), np.array([1, 2, 3], np.uint32)):
        batch = BatchedRbc(3, 2**64 - 1, max_turns=80, recall=3)
        batch.sense(actions)
        assert everything(batch) == everything(wanted)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_unusable_logits_name_the_game_and_change_nothing(bad: float) -> None:
    batch = BatchedRbc(3)
    before = everything(batch)
    logits = np.zeros((3, 64), np.float32)
    logits[1] = bad
    with pytest.raises(ValueError, match="logits: those of game 1"):
        batch.sample_senses(logits)
    assert everything(batch) == before
    batch.sense(np.zeros(3, np.int64))
    before = everything(batch)
    logits = np.zeros((3, MOVES), np.float32)
    logits[2] = bad
    with pytest.raises(ValueError, match="logits: those of game 2"):
        batch.sample_moves(logits)
    assert everything(batch) == before


def test_logits_that_are_huge_or_only_of_illegal_actions() -> None:
    batch = BatchedRbc(2)
    batch.sense(batch.sample_senses(np.full((2, 64), 3.4e38, np.float32)))
    lowest = np.full((2, MOVES), -3.4e38, np.float32)
    lowest[:, PASS] = 3.4e38
    assert batch.sample_moves(lowest).tolist() == [PASS, PASS]
    illegal = np.where(batch.masks() == 1, -np.inf, 5).astype(np.float32)
    with pytest.raises(ValueError, match="logits: those of game 0"):
        batch.sample_moves(illegal)
    nan = np.where(batch.masks() == 1, 0, np.nan).astype(np.float32)
    assert (batch.masks()[[0, 1], batch.sample_moves(nan)] == 1).all()


@pytest.mark.parametrize(
    ("logits", "error"),
    [
        (np.zeros((2, MOVES)), TypeError),
        (np.zeros((2, MOVES), ">f4"), TypeError),
        (np.zeros((2, MOVES), object), TypeError),
        (np.zeros((2, MOVES - 1), np.float32), ValueError),
        (np.zeros((3, MOVES), np.float32), ValueError),
        (np.zeros(MOVES, np.float32), ValueError),
    ],
)
def test_logits_of_a_wrong_type_or_shape_are_refused(logits: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="logits: their"):
        BatchedRbc(2).sample_moves(logits)


@pytest.mark.parametrize(
    ("viewers", "error"),
    [(2, ValueError), ([0, -1], ValueError), ([0, 1, 0], ValueError), ("w", TypeError), ([0.0, 1.0], TypeError)],
)
def test_viewers_that_are_no_colors_are_refused(viewers: Any, error: type[Exception]) -> None:
    batch = BatchedRbc(2)
    for show in (batch.observations, batch.information_states, batch.privileged_state):
        with pytest.raises(error, match="viewers: "):
            show(viewers)
    with pytest.raises(ValueError, match="viewer: 'white' is no colour"):
        batch.information_string(0, "white")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("game", "error"), [(-1, IndexError), (2, IndexError), (2**70, IndexError), (1.0, TypeError), (None, TypeError)]
)
def test_game_that_is_not_there_is_refused(game: Any, error: type[Exception]) -> None:
    batch = BatchedRbc(2)
    for look in (batch.board, batch.history, lambda game: batch.information_string(game, chess.WHITE)):
        with pytest.raises(error, match="game: "):
            look(game)


def test_actions_changed_by_another_thread_are_those_that_were_checked() -> None:
    """A batch that several threads share stays in order, whatever they do to their arrays and to it."""
    batch = BatchedRbc(16, 1, reversible_moves=30)
    senses, moves = np.zeros(16, np.int64), np.full(16, PASS)

    def disturb(number: int) -> None:
        rng = np.random.default_rng(number)
        for _ in range(400):
            senses[:], moves[:] = rng.integers(-(2**62), 2**62, 16), rng.integers(-5, MOVES, 16)
            for step, actions in ((batch.sense, senses), (batch.move, moves)):
                with suppress(IllegalAction):
                    step(actions)
            with suppress(IllegalAction):
                batch.sense(batch.sample_senses())
                batch.move(batch.sample_moves())
            batch.observations()
            batch.information_states()
            batch.reset(games=[number])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(disturb, range(4)))
    for game in range(16):
        again = BatchedRbc(1, reversible_moves=30, autoreset=False)
        again.load(0, batch.history(game))
        assert again.board(0) == batch.board(game)
        assert batch.phases[game] in (0, TO_MOVE, OVER, 3)
