"""``minimax`` as a player of blind chess: one guess at the position, searched as if it were true."""

from __future__ import annotations

import random
from typing import Any

import chess
from chess import Board, Color, Move, Piece, Square

from gm_bots.options import from_environment
from gm_bots.turn_time import NO_CLOCK
from gm_recon import Player

from .engine import Limit, Result, search
from .guess import Guess
from .settings import Settings
from .uci import SEED

#: The environment variable with the options of players made without any, as by reconchess's programs.
VARIABLE = "GM_MINIMAX"

#: Seconds for a move without a limit: by reconchess's clock alone a game would take half an hour.
MOVE_SECONDS = 1.0


class Minimax(Player):
    """A player for one game after the other.

    Its choices depend on the guess and the seed alone, and with limits of time on the machine.

    :ivar score: the score of the last move, as ``+35`` hundredths of a pawn or ``#3`` moves to mate; None if it was not
        searched.
    :ivar depth: the plies that were searched for it.
    """

    def __init__(self, settings: Settings | None = None, rng: random.Random | None = None, **options: Any) -> None:
        """Read the options.

        :param settings: the options, parsed; by default those that follow.
        :param rng: draws the seed of each game, if there is a seed; by default a generator of its own.
        :param options: the options of ``minimax``, as numbers or text; options not given come from the variable
            ``GM_MINIMAX`` (``depth=3,seed=7``).
        :raises BotUnusable: an option is unknown, or its value is not allowed.
        """
        texts = {name: str(value) for name, value in options.items()}
        self._settings = Settings.read({**from_environment(VARIABLE), **texts}) if settings is None else settings
        self._rng = random.Random(self._settings.seed) if rng is None else rng
        self.score: str | None = None
        self.depth: int | None = None

    def handle_game_start(self, color: Color, board: Board, opponent_name: str) -> None:
        self._guess = Guess(board, color)
        self._own = _pieces_of(board, color)
        seed = self._rng.randint(1, SEED.most) if self._settings.seed else None
        self._options = self._settings.search_options(seed)

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
        self.score = self.depth = None
        choice = self._guess.choose(move_actions)
        if not isinstance(choice, Board):
            return choice
        found = search(choice, self._limit(seconds_left), self._options)
        self.score, self.depth = _written(found), found.depth
        return found.move if found.move in move_actions else None

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


def _written(found: Result) -> str:
    return f"{found.score:+d}" if found.mate is None else f"#{found.mate}"


def _pieces_of(board: Board, color: Color) -> Board:
    """Return a board with only one side's pieces and castling rights."""
    own = board.copy(stack=False)
    for square in chess.scan_forward(board.occupied_co[not color]):
        own.remove_piece_at(square)
    own.castling_rights &= chess.BB_RANK_1 if color else chess.BB_RANK_8
    own.ep_square = None
    return own
