"""The memory estimates of games, on which the daemon relies, are about right."""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from collections.abc import Callable

import chess
import pytest

from gm_protocol.options import GameOptions
from gmd.games.events import AnyEvent, Created, Moved, Sensed
from gmd.games.game import Game
from gmd.games.variants import make_game

PLIES = 600

pytestmark = pytest.mark.slow


def wandering(plies: int) -> list[str]:
    """Return moves of a game in which pieces wander without captures or pawn moves, so that few positions repeat."""
    board, moves, rng = chess.Board(), list[str](), random.Random(1)
    while len(moves) < plies:
        quiet = [move for move in board.legal_moves if not board.is_zeroing(move) and not board.gives_check(move)]
        board.push(rng.choice(quiet))
        moves.append(board.peek().uci())
    return moves


def chess_game() -> Game:
    options = GameOptions(
        variant="standard",
        fen=chess.STARTING_FEN,
        position=None,
        draws="claimed",
        max_moves=None,
        clock=None,
        illegal_move="refuse",
    )
    return make_game(Created(1, 2, options, "2026-01-01T00:00:00Z"))


def rbc_game() -> Game:
    options = GameOptions(variant="rbc", fen=chess.STARTING_FEN, clock=None, reversible_moves=None, max_turns=None)
    return make_game(Created(1, 2, options, "2026-01-01T00:00:00Z"))


def events_of(game: Game, move: str) -> list[AnyEvent]:
    return [Moved(move)] if game.open else [Sensed(28), Moved(move)]


@pytest.mark.parametrize("make", [chess_game, rbc_game])
def test_estimated_bytes_of_a_game_are_about_right(make: Callable[[], Game]) -> None:
    moves = wandering(PLIES)
    tracemalloc.start()
    try:
        game = make()
        for move in moves:
            for event in events_of(game, move):
                game.apply(event)
        said = game.estimated_bytes
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        # the caches hold them too, until other positions replace them
        shared = sum(map(sys.getsizeof, getattr(game, "_occurred", ())))
        del game
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert said == pytest.approx(before - after + shared, rel=0.5)
