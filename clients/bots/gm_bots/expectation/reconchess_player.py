"""``expectation`` as a player of the package reconchess, for any program that loads such players.

``rc-bot-match``, ``rc-connect`` and ``reconchess.load_player`` find it by the name ``gm_bots.expectation``, by that
folder, or by this file. Imports are absolute, since reconchess imports a file without its package.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import chess
from chess import Color, Move, Piece, Square
from reconchess import GameHistory, Player, WinReason

from gm_bots.expectation.engine import Stockfish
from gm_bots.expectation.knowledge import most_kept, prepare
from gm_bots.expectation.player import Player as Thinker
from gm_bots.expectation.settings import read
from gm_bots.options import from_environment
from gm_bots.turn_time import RECONCHESS_SECONDS, TurnsByReconchess

#: The environment variable with the options of players made without any, as by reconchess's programs.
VARIABLE = "GM_EXPECTATION"


class Expectation(Player):  # type: ignore[misc]
    """A player for one game after the other, which thinks within the clock as ``gmd connect expectation`` does."""

    def __init__(self, **options: Any) -> None:
        """Start Stockfish, before any clock runs.

        :param options: the options of ``expectation``, as numbers or text; options not given come from the variable
            ``GM_EXPECTATION`` (``positions=60,seed=7``).
        :raises BotUnusable: an option is unknown, its value is not allowed, or Stockfish is not installed.
        :raises BotFailed: Stockfish does not start.
        """
        given = {name: str(value) for name, value in options.items()}
        self._given = read({**from_environment(VARIABLE), **given})
        self._rng = random.Random(self._given.seed)
        prepare()
        self._engine = Stockfish(self._given.stockfish)

    def handle_game_start(self, color: Color, board: chess.Board, opponent_name: str) -> None:
        self._engine.new_game()
        fen, most = board.fen(en_passant="fen"), most_kept(RECONCHESS_SECONDS)
        self._thinker = Thinker(color, self._engine, self._given.settings, self._rng, most=most, fen=fen)
        self._opponent_has_moved = board.turn != color
        self._unsettled: partial[None] | None = None
        self._turns = TurnsByReconchess(self._given.seconds)

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: Square | None) -> None:
        self._turns.begin()
        self._settle()
        if self._opponent_has_moved:
            self._thinker.opponent_moved(capture_square)
        self._opponent_has_moved = True

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        return self._thinker.choose_sense(sense_actions, move_actions, self._turns.plan(seconds_left))

    def handle_sense_result(self, sense_result: list[tuple[Square, Piece | None]]) -> None:
        self._thinker.saw(sense_result)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return self._thinker.choose_move(move_actions, self._turns.remaining(seconds_left))

    def handle_move_result(
        self,
        requested_move: Move | None,
        taken_move: Move | None,
        captured_opponent_piece: bool,
        capture_square: Square | None,
    ) -> None:
        """Record the result of the move, in the opponent's time.

        A result by which the game may be over waits for the next turn, if there is one: a capture may have been the
        king's, and a refused move may have come too late.
        """
        self._unsettled = partial(self._thinker.moved, requested_move, taken_move, capture_square)
        if capture_square is None and (taken_move is not None or requested_move is None):
            self._settle()

    def handle_game_end(
        self, winner_color: Color | None, win_reason: WinReason | None, game_history: GameHistory
    ) -> None:
        """Do nothing: Stockfish waits for the next game, and ends with the player."""

    def __del__(self) -> None:
        """End Stockfish."""
        if hasattr(self, "_engine"):
            self._engine.close()

    def _settle(self) -> None:
        unsettled, self._unsettled = self._unsettled, None
        if unsettled is not None:
            unsettled()
