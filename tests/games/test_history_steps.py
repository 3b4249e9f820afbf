"""Histories made in steps equal those made at once, and no single step is long."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.messages import NewGame
from gm_recon import ReconGame
from gmd.games import views
from gmd.games.chess import ChessGame
from gmd.games.events import Created, Ended, Loaded, Moved, Sensed
from gmd.games.notation import run_through
from gmd.games.rbc import PASS, RbcGame
from gmd.games.rbc_record import record_steps
from gmd.games.variants import make_game, resolve
from tests.work import calls_of_steps

#: Limit of function calls in one step: eight turns of blind chess, or fifty lines of text.
CALLS_A_STEP = 5_000
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


def played_game(seed: int, plies: int, unfinished: bool) -> ReconGame:
    """Return a game of random actions, possibly with a sense after its last move."""
    rng, game = random.Random(seed), ReconGame(reversible_moves=None)
    while game.ply < plies and not game.is_over():
        game.sense(rng.choice([None, *game.sense_actions()]))
        game.move(rng.choice([None, *game.move_actions()]))
    if unfinished and not game.is_over():
        game.sense(rng.choice([None, chess.E4]))
    return game


@given(st.integers(0, 2**32), st.integers(0, 16), st.booleans(), st.text(), st.text())
def test_record_made_in_steps_equals_the_one_made_at_once(
    seed: int, plies: int, unfinished: bool, white: str, black: str
) -> None:
    history = played_game(seed, plies, unfinished).history()
    made = run_through(record_steps(history, white, black))
    assert made == msgspec.json.format(history.to_json(white, black), indent=-1).encode()
    assert json.loads(made)["white_name"] == white


def created(**asked: Any) -> Created:
    request = NewGame(player_white=1, player_black=2, **asked)
    return Created(1, 2, resolve(request, {}, 0, strict=True), "2026-11-22T00:00:00Z")


def long_rbc(plies: int) -> RbcGame:
    game = RbcGame(created(variant="rbc", clock=None, reversible_moves=None))
    for ply in range(plies):
        game.apply(Sensed(27))
        game.apply(Moved(SHUFFLE[ply % 4]))
    game.apply(Ended("resignation_white", 0.0, "white", "resignation_white"))
    return game


def long_chess(plies: int) -> ChessGame:
    game = make_game(created())
    game.apply(Loaded([SHUFFLE[ply % 4] for ply in range(plies)]))
    return game


@pytest.mark.parametrize("make", [long_rbc, long_chess])
@pytest.mark.parametrize("plies", [100, 1_000])
def test_step_of_a_history_does_not_grow_with_the_game(make: Callable[[int], RbcGame | ChessGame], plies: int) -> None:
    steps = calls_of_steps(views.history(make(plies)))
    assert max(steps) < CALLS_A_STEP


def test_history_of_a_live_game_shows_one_moment() -> None:
    game = long_chess(1_000)
    steps = views.history(game)
    expected = run_through(views.history(game))
    next(steps)
    game.apply(Moved("e2e4"))
    assert run_through(steps) == expected


def test_movetext_is_written_during_play() -> None:
    game = RbcGame(created(variant="rbc", fen="4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"))
    for move in ("e8d8", "e2e4", PASS, "e1d2"):
        game.apply(Sensed(None))
        game.apply(Moved(move))
    assert game.movetext == "7...Kd8 8.e4 -- 9.Kd2"
