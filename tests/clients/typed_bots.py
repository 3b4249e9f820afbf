"""Bots as their authors write them, for a type checker: ``test_types.py`` has mypy read this module, strictly."""

from __future__ import annotations

import random
from typing import assert_type

import chess
from chess import Color, Move, Piece, Square

import gm_client
from gm_client import blocking, run, trio_client
from gm_client.tracker import Tracker
from gm_env import BatchedRbc
from gm_env import run as run_batch
from gm_env.player_opponent import PlayerOpponent
from gm_recon import History, Player, WinReason, play_local


class Shortest(Player):
    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        return random.choice(sense_actions)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return random.choice(move_actions)


class OwnClass:
    """It has the methods of a player, some with names of its own for what it is given."""

    def handle_game_start(self, color: Color, board: chess.Board, opponent: str) -> None:
        self.color = color

    def handle_opponent_move_result(self, captured: bool, square: Square | None) -> None:
        pass

    def choose_sense(self, squares: list[Square], moves: list[Move], seconds: float) -> Square | None:
        return squares[0]

    def handle_sense_result(self, seen: list[tuple[Square, Piece | None]]) -> None:
        pass

    def choose_move(self, moves: list[Move], seconds: float) -> Move | None:
        return None

    def handle_move_result(
        self, requested: Move | None, taken: Move | None, captured: bool, square: Square | None
    ) -> None:
        pass

    def handle_game_end(self, winner: Color | None, reason: WinReason | None, history: History) -> None:
        pass


def play_everywhere() -> None:
    assert_type(play_local(Shortest(), OwnClass()), History)
    assert_type(run(OwnClass(), opponent="random", player=1), History)
    assert_type(run_batch([(Shortest(), OwnClass())], BatchedRbc(1)), list[History])
    PlayerOpponent(Shortest)


def in_terms_of_python_chess() -> None:
    with gm_client.connect(player=1) as client, client.turns(7) as turns:
        for turn in turns:
            assert_type(turn.sense(chess.E4), list[tuple[Square, Piece | None]])
            assert_type(turn.board, chess.Board)
            turn.move(next(iter(turn.board.legal_moves)))
            tracker = Tracker.of(turn.state)
            tracker.sensed(turn.sense(tracker.best_sense()))
        assert_type(turns.result, str | None)
        game = client.game(7)
        assert_type(game.moves, list[str])
        assert_type(game.state, blocking.GameState)


def in_plain_ones() -> None:
    with blocking.connect(player=1) as client:
        for turn in client.turns():
            assert_type(turn.sense("e4"), list[tuple[str, blocking.Piece | None]])
            turn.move(turn.move_actions[0])


async def with_trio() -> None:
    async with await trio_client.connect(player=1) as client, client.turns(7) as turns:
        async for turn in turns:
            assert_type(await turn.sense("e4"), list[tuple[Square, Piece | None]])
            await turn.move(None)
        assert_type(await client.game(7).result, str)
