"""``minimax`` as a player of the package reconchess, for any program that loads such players.

``rc-bot-match``, ``rc-connect`` and ``reconchess.load_player`` find it by the name ``gm_bots.minimax``, by that folder,
or by this file. Imports are absolute, since reconchess imports a file without its package.
"""

from __future__ import annotations

import random
from typing import Any

import chess
from chess import Color, Move, Piece, Square
from reconchess import GameHistory, Player, WinReason

from gm_bots.minimax.engine import Limit, search
from gm_bots.minimax.guess import Guess
from gm_bots.minimax.settings import Settings
from gm_bots.minimax.uci import SEED
from gm_bots.options import from_environment

#: The environment variable with the options of players made without any, as by reconchess's programs.
VARIABLE = "GM_MINIMAX"

#: Seconds for a move without a limit: by reconchess's clock alone a game would take half an hour.
MOVE_SECONDS = 1.0

#: The ``seconds_left`` of a game without clocks: this from gmd's HTTP API, infinity elsewhere.
NO_CLOCK = 10_000_000.0


class Minimax(Player):  # type: ignore[misc]
    """A player for one game after the other, which treats one guess at the position as the truth."""

    def __init__(self, **options: Any) -> None:
        """Read the options.

        :param options: the options of ``minimax``, as numbers or text; options not given come from the variable
            ``GM_MINIMAX`` (``depth=3,seed=7``).
        :raises BotUnusable: an option is unknown, or its value is not allowed.
        """
        given = {name: str(value) for name, value in options.items()}
        self._settings = Settings.read({**from_environment(VARIABLE), **given})
        self._games = 0

    def handle_game_start(self, color: Color, board: chess.Board, opponent_name: str) -> None:
        self._games += 1
        self._guess = Guess(board, color)
        self._own = _pieces_of(board, color)
        self._options = self._settings.search_options(self._seed(color))

    def _seed(self, color: Color) -> int | None:
        """Return the game's own seed, the same for the same number and colour; None if no seed was given."""
        if not self._settings.seed:
            return None
        return random.Random(f"{self._settings.seed} {self._games} {color}").randint(1, SEED.most)

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: Square | None) -> None:
        if capture_square is not None:
            self._own.remove_piece_at(capture_square)
            self._own.castling_rights &= ~chess.BB_SQUARES[capture_square]
        self._guess.opponent_moved(self._own, capture_square)

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        return self._guess.best_sense(sense_actions)

    def handle_sense_result(self, sense_result: list[tuple[Square, Piece | None]]) -> None:
        self._guess.saw(sense_result)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        choice = self._guess.choose(move_actions)
        if not isinstance(choice, chess.Board):
            return choice
        move = search(choice, self._limit(seconds_left), self._options).move
        return move if move in move_actions else None

    def _limit(self, seconds_left: float) -> Limit:
        settings = self._settings
        counted = settings.depth is not None or settings.nodes is not None
        return Limit(
            depth=settings.depth,
            nodes=settings.nodes,
            seconds=settings.seconds or (None if counted else MOVE_SECONDS),
            clock=seconds_left if seconds_left < NO_CLOCK else None,
        )

    def handle_move_result(
        self,
        requested_move: Move | None,
        taken_move: Move | None,
        captured_opponent_piece: bool,
        capture_square: Square | None,
    ) -> None:
        if taken_move is not None:
            self._own.turn = self._guess.color
            self._own.push(taken_move)
            self._own.clear_stack()
        self._guess.moved(requested_move, taken_move, capture_square)

    def handle_game_end(
        self, winner_color: Color | None, win_reason: WinReason | None, game_history: GameHistory
    ) -> None:
        """Do nothing: there is nothing to keep."""


def _pieces_of(board: chess.Board, color: Color) -> chess.Board:
    """Return a board with only one side's pieces and castling rights."""
    own = board.copy(stack=False)
    for square in chess.scan_forward(board.occupied_co[not color]):
        own.remove_piece_at(square)
    own.castling_rights &= chess.BB_RANK_1 if color else chess.BB_RANK_8
    own.ep_square = None
    return own
