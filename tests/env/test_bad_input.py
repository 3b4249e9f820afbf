"""Hostile input to a batch: it is refused by name or taken as it stands, and memory stays defined."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import chess
import numpy as np
import pytest

from gm_env import MOVES, OVER, PASS, SKIP, TO_MOVE, BatchedRbc, IllegalAction
from tests.env.test_batch import everything, played


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 1.5}, TypeError, "n: 1.5 is not an integer"),
        ({"n": "2"}, TypeError, "n: '2' is not an integer"),
        ({"n": -3}, ValueError, "n: -3 is less than 1"),
        ({"n": 2, "seed": 1.0}, TypeError, "seed: 1.0 is not an integer"),
        ({"n": 2, "seed": None}, TypeError, "seed: None is not an integer"),
        ({"n": 2, "max_turns": 2.5}, TypeError, "max_turns: 2.5 is not an integer"),
        ({"n": 2, "max_turns": -1}, ValueError, "max_turns: -1"),
        ({"n": 2, "max_turns": 2**31}, ValueError, "max_turns: 2147483648"),
        ({"n": 2, "max_turns": np.nan}, TypeError, "max_turns: nan is not an integer"),
        ({"n": 2, "reversible_moves": "100"}, TypeError, "reversible_moves: '100' is not an integer"),
        ({"n": 2, "recall": 2.5}, TypeError, "recall: 2.5 is not an integer"),
        ({"n": 2, "recall": -1}, ValueError, "recall: -1 is less than 1"),
        ({"n": 2, "fens": [chess.STARTING_FEN, None]}, TypeError, "fens: None is no text"),
        ({"n": 2, "fens": [1, 2]}, TypeError, "fens: 1 is no text"),
    ],
)
def test_arguments_of_a_wrong_type_are_named(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        BatchedRbc(**options)


def test_numpys_integers_are_taken() -> None:
    batch = BatchedRbc(np.int64(2), np.uint64(2**64 - 1), max_turns=np.int8(80), recall=np.uint16(3))
    assert batch.information_states().shape == (2, 11, 14)


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ([[0], [0, 1]], ValueError, "actions: they are no array"),
        ([10**30, 0], TypeError, "actions: their type is object"),
        ([None, 0], TypeError, "actions: their type is object"),
        ([0.0, np.nan], TypeError, "actions: their type is float64"),
        (np.zeros(2, np.complex64), TypeError, "actions: their type is complex64"),
        (np.zeros(2, "m8[s]"), TypeError, "actions: their type is timedelta64"),
        (np.zeros(2, [("a", int)]), TypeError, "actions: their type is"),
        (None, TypeError, "actions: their type is object"),
        ([], TypeError, "actions: their type is float64"),
        (np.zeros(0, np.int64), ValueError, r"actions: their shape is \(0,\)"),
        ({0: 1}, TypeError, "actions: their type is object"),
    ],
)
def test_actions_that_are_no_integers_are_refused(actions: Any, error: type[Exception], message: str) -> None:
    batch = played(3, n=2)
    before = everything(batch)
    for step in (batch.sense, batch.move):
        with pytest.raises(error, match=message):
            step(actions)
    assert everything(batch) == before


def test_lists_reversed_strides_read_only_and_foreign_bytes_are_taken() -> None:
    wanted = BatchedRbc(3)
    wanted.sense(np.array([1, 2, 3]))
    frozen = np.array([1, 2, 3])
    frozen.flags.writeable = False
    reverse, broadcast = np.array([3, 2, 1])[::-1], np.broadcast_to(np.int16(7), 3)
    column = np.asfortranarray(np.arange(12).reshape(4, 3))[:, 1][:3]
    for actions in ([1, 2, 3], frozen, reverse, np.array([1, 2, 3], ">i8")):
        batch = BatchedRbc(3)
        batch.sense(actions)
        assert everything(batch) == everything(wanted)
    for actions in (broadcast, column):
        batch = BatchedRbc(3)
        batch.sense(actions)
        assert [batch.history(game).unfinished for game in range(3)] == [[int(square)] for square in actions]


@pytest.mark.parametrize("action", [-(2**63), -65, -2, 65, PASS, 2**31, 2**32, 2**63 - 1])
def test_huge_and_negative_senses_are_refused(action: int) -> None:
    batch = played(2, n=2)
    before = everything(batch)
    with pytest.raises(IllegalAction, match=f"game 1 does not allow {action}:"):
        batch.sense(np.array([0, action]))
    assert everything(batch) == before


def test_action_is_refused_before_any_game_has_changed() -> None:
    batch = BatchedRbc(4)
    batch.sense(np.array([1, SKIP, 2, 3]))
    before = everything(batch)
    with pytest.raises(IllegalAction) as raised:
        batch.move(np.array([PASS, PASS, PASS, 2**40]))
    assert (raised.value.game, raised.value.action) == (1, PASS)
    with pytest.raises(IllegalAction) as raised:
        batch.sense(np.array([SKIP, 1, SKIP, 1]))
    assert (raised.value.game, raised.value.action) == (3, 1)
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


@pytest.mark.parametrize("kind", [np.float16, np.float64, ">f4", np.int32, np.bool_, object])
def test_logits_of_another_type_are_refused(kind: Any) -> None:
    batch = BatchedRbc(2)
    with pytest.raises(TypeError, match="logits: their type is"):
        batch.sample_senses(np.zeros((2, 64), kind))


@pytest.mark.parametrize("logits", [np.zeros((0, 64), np.float32), np.zeros((2, 63), np.float32), np.float32(1)])
def test_logits_of_another_shape_are_refused(logits: Any) -> None:
    with pytest.raises(ValueError, match="logits: their shape is"):
        BatchedRbc(2).sample_senses(logits)


@pytest.mark.parametrize(
    ("viewers", "error"),
    [(2, ValueError), ([0, -1], ValueError), ([True, 300], ValueError), ("w", TypeError), ([0.0, 1.0], TypeError)],
)
def test_viewers_that_are_no_colors_are_refused(viewers: Any, error: type[Exception]) -> None:
    batch = BatchedRbc(2)
    for show in (batch.observations, batch.information_states, batch.privileged_state):
        with pytest.raises(error, match="viewers: "):
            show(viewers)


@pytest.mark.parametrize(
    ("game", "error"), [(1.0, TypeError), ("0", TypeError), (None, TypeError), (2**70, IndexError)]
)
def test_games_that_are_none_are_refused(game: Any, error: type[Exception]) -> None:
    batch = BatchedRbc(2)
    for look in (batch.board, batch.history, lambda game: batch.information_string(game, chess.WHITE)):
        with pytest.raises(error, match="game: "):
            look(game)


def test_viewer_of_a_string_must_be_a_color() -> None:
    with pytest.raises(ValueError, match="viewer: 'white' is no colour"):
        BatchedRbc(1).information_string(0, "white")  # type: ignore[arg-type]


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
