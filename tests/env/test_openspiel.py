"""Observations in OpenSpiel's shape, compared with its own in random games."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import chess
import numpy as np
import pytest

from gm_env import INNER_SQUARES, BatchedRbc, action_of, move_of, sense_of
from gm_env.openspiel import TENSOR_SIZE, observation_dict, observation_tensor
from tests.tools import require_module

pyspiel = require_module("pyspiel")  # of the package open_spiel

from open_spiel.python.observation import make_observation  # noqa: E402

pytestmark = pytest.mark.slow

STARTS = [
    chess.STARTING_FEN,
    "r3k2r/p2p2pp/8/2P1P3/1p1p4/8/PP3P1P/R3K2R w KQkq - 0 1",
    "1n2k3/P6P/8/8/8/8/p6p/1N2K3 b - - 0 1",
]


def observed(observation: Any, state: Any, player: int) -> dict[str, Any]:
    observation.set_from(state, player)
    return {name: np.copy(part) for name, part in observation.dict.items()}


def test_names_shapes_and_order_are_those_of_openspiel() -> None:
    game, batch = pyspiel.load_game("rbc"), BatchedRbc(3)
    for player in chess.COLORS:
        state, observation = game.new_initial_state(), make_observation(game)
        theirs, ours = observed(observation, state, int(player)), observation_dict(batch, player)
        assert list(ours) == list(theirs)
        assert [part.shape for part in ours.values()] == [(3, *part.shape) for part in theirs.values()]
        assert all(np.array_equal(part[2], theirs[name]) for name, part in ours.items())
        flat = observation_tensor(batch, player)
        assert (flat.shape, flat.dtype) == ((3, TENSOR_SIZE), np.float32)
        assert game.observation_tensor_shape() == [TENSOR_SIZE]
        assert np.array_equal(flat[1], np.array(state.observation_tensor(int(player)), np.float32))


@pytest.mark.parametrize("fen", STARTS)
def test_random_games_show_what_openspiel_shows(fen: str) -> None:
    met: Counter[str] = Counter()
    for seed in range(6):
        play_beside_openspiel(fen, random.Random(seed), met)
    assert met["capture"] > 0
    assert met["refused"] > 0


def play_beside_openspiel(fen: str, rng: random.Random, met: Counter[str]) -> None:
    """Play a random game in both, with the senses and moves that both know, until OpenSpiel ends it."""
    batch, state = BatchedRbc(1, fens=fen, autoreset=False), pyspiel.load_game("rbc", {"fen": fen}).new_initial_state()
    last = {"capture": False, "refused": False, "passant": False}
    refused = {chess.WHITE: False, chess.BLACK: False}
    while not state.is_terminal() and not batch.reasons[0]:
        compare(batch, state, last)
        color = bool(batch.colors[0])
        assert observation_dict(batch, color)["illegal_move"][0, 1] == refused[color]
        inner = rng.randrange(36)
        state.apply_action(inner)
        batch.sense(np.array([sense_of(chess.square(inner % 6 + 1, inner // 6 + 1), color)]))
        compare(batch, state, last)
        last = move_both(batch, state, color, rng)
        refused[color] = last["refused"]
        for name in last:
            met[name] += last[name]


def move_both(batch: BatchedRbc, state: Any, color: chess.Color, rng: random.Random) -> dict[str, bool]:
    """Make a random move that both allow; return what became of it."""
    theirs = {action_in_batch(state, action, color): action for action in state.legal_actions()}
    mask = batch.masks()[0]
    action = rng.choice(sorted(action for action in theirs if mask[action]))
    passed, pawns = batch.board(0).ep_square, batch.board(0).pieces(chess.PAWN, color)
    state.apply_action(theirs[action])
    batch.move(np.array([action]))
    requested, taken, capture = batch.results[0].tolist()
    made = move_of(taken, color, int(pawns))
    assert str(state).split()[:2] == batch.board(0).fen(en_passant="fen").split()[:2], "the same position"
    return {
        "capture": capture >= 0,
        "refused": requested != taken and capture < 0,
        "passant": made is not None and made.to_square == passed and made.from_square in pawns and capture >= 0,
    }


def action_in_batch(state: Any, action: int, color: chess.Color) -> int:
    name = state.action_to_string(action)
    return action_of(None if name == "pass" else chess.Move.from_uci(name.lower()), color)


def compare(batch: BatchedRbc, state: Any, last: dict[str, bool]) -> None:
    """Assert that both players see the same, but for what the module says."""
    for player in chess.COLORS:
        ours = {name: part[0] for name, part in observation_dict(batch, player).items()}
        differ = {"illegal_move"}
        if last["passant"]:
            differ.add("capture")
        if player != batch.colors[0]:
            differ |= {"phase", "capture"}
        theirs = split(np.array(state.observation_tensor(int(player)), np.float32), ours)
        for name, part in ours.items():
            assert name in differ or np.array_equal(part, theirs[name]), (name, player, str(state))


def split(flat: Any, like: dict[str, Any]) -> dict[str, Any]:
    """Cut a flat tensor of OpenSpiel's into its parts."""
    ends = np.cumsum([part.size for part in like.values()])
    return {name: part.reshape(like[name].shape) for name, part in zip(like, np.split(flat, ends[:-1]), strict=True)}


def test_refused_move_is_shown_to_its_player_alone() -> None:
    batch = BatchedRbc(1)
    for white, black in (("e2e4", "e7e5"), ("e4e5", "a7a6")):
        for uci, color in ((white, chess.WHITE), (black, chess.BLACK)):
            batch.sense(np.array([64]))
            batch.move(np.array([action_of(chess.Move.from_uci(uci), color)]))
            if uci == "e4e5":
                assert not shows(batch, chess.BLACK, "illegal_move"), "OpenSpiel tells Black here"
    assert shows(batch, chess.WHITE, "illegal_move")
    assert not shows(batch, chess.BLACK, "illegal_move")
    batch.sense(np.array([64]))
    assert not shows(batch, chess.WHITE, "illegal_move")


def test_waiting_player_is_not_shown_that_the_other_has_sensed() -> None:
    batch = BatchedRbc(1)
    before = observation_tensor(batch, chess.BLACK)
    batch.sense(np.array([int(INNER_SQUARES[0])]))
    assert np.array_equal(before, observation_tensor(batch, chess.BLACK))
    assert not np.array_equal(before, observation_tensor(batch, chess.WHITE))


def shows(batch: BatchedRbc, player: chess.Color, name: str) -> bool:
    return bool(observation_dict(batch, player)[name][0, 1])
