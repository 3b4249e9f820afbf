"""``expectation`` as a player."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from threading import Event, Thread
from typing import Any

from chess import Color, Move, Square

from gm_arena.bot import BotFailed
from gm_bots.options import from_environment
from gm_bots.timed_player import TimedPlayer
from gm_bots.turn_time import NO_CLOCK

from .engine import Stockfishes
from .knowledge import most_kept, prepare
from .settings import Given, read
from .thinker import Thinker

#: The environment variable with the options of players made without any, as by reconchess's programs.
VARIABLE = "GM_EXPECTATION"


class Expectation(TimedPlayer):
    """A player for one game after the other.

    :ivar score: the score of the last move, in hundredths of a pawn, as ``+35``; None if it was not searched.
    """

    def __init__(self, given: Given | None = None, rng: random.Random | None = None, **options: Any) -> None:
        """Start Stockfish, before any clock runs.

        :param given: the options, parsed; by default those that follow.
        :param rng: decides all that is random; by default a generator of its own, by the option ``seed``.
        :param options: the options of ``expectation``, as numbers or text; options not given come from the variable
            ``GM_EXPECTATION`` (``positions=60,seed=7``).
        :raises BotUnusable: an option is unknown, its value is not allowed, or Stockfish is not installed.
        :raises BotFailed: Stockfish does not start.
        """
        texts = {name: str(value) for name, value in options.items()}
        self._given = read({**from_environment(VARIABLE), **texts}, os.cpu_count() or 1) if given is None else given
        super().__init__(self._given.seconds)
        self._rng = random.Random(self._given.seed) if rng is None else rng
        self.score: str | None = None
        self._stop = Event()
        self._pondering: Thread | None = None
        self._engine = Stockfishes(self._given.stockfish, self._given.engines)
        prepare(self._engine)

    def begin(self, color: Color, fen: str) -> Thinker:
        self._rest()
        self._engine.new_game()
        self._has_begun = False
        self._thinking = Thinker(color, self._engine, self._given.settings, self._rng, most=most_kept(None), fen=fen)
        return self._thinking

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        if not self._has_begun and seconds_left < NO_CLOCK:
            self._thinking.knowledge.limit(most_kept(seconds_left))
        self._has_begun = True
        return self._thinking.choose_sense(sense_actions, move_actions, self._time.plan(seconds_left))

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        move = super().choose_move(move_actions, seconds_left)
        score = self._thinking.score
        self.score = None if score is None else f"{100 * score:+.0f}"
        return move

    def handle_move_result(self, *result: Any) -> None:
        """Record the result of the move; with ``ponder`` think on until the opponent has moved."""
        super().handle_move_result(*result)
        if self._given.ponder and self.is_settled:
            self._stop.clear()
            self._pondering = Thread(target=self._ponder, daemon=True)
            self._pondering.start()

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: Square | None) -> None:
        """Begin a turn."""
        self._rest()
        super().handle_opponent_move_result(captured_my_piece, capture_square)

    def _ponder(self) -> None:
        with suppress(BotFailed):  # the next turn reports it
            self._thinking.ponder(self._stop.is_set)

    def handle_game_end(self, *end: Any) -> None:
        """End the thought about a game that is over."""
        self._rest()

    def _rest(self) -> None:
        self._stop.set()
        if self._pondering is not None:
            self._pondering.join()
            self._pondering = None

    def close(self) -> None:
        """End Stockfish."""
        self._rest()
        self._engine.close()

    def __del__(self) -> None:
        if hasattr(self, "_engine"):
            self._engine.close()
