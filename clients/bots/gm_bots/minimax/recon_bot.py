"""Blind chess by one guess at the position, and an engine that searches the guess as if it were true."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import chess

from gm_arena.bot import Bot, Place
from gm_arena.uci_bot import UciBot
from gm_client.blocking import GameState, HistoryReply
from gm_client.rbc import own_board, read_move, read_sense, read_square
from gm_client.trio_client import Turn

from .guess import Guess


class ReconBot(Bot):
    """One game. Its choices depend on the guess and the engine alone, and on nothing random."""

    def __init__(self, engine: UciBot) -> None:
        self._engine = engine
        self._guess: Guess

    async def begin(self, place: Place) -> None:
        self._guess = Guess(chess.Board(place.start_fen), place.color)
        await self._engine.begin(place)

    async def take_turn(self, turn: Turn) -> None:
        guess = self._guess
        guess.opponent_moved(own_board(turn.state), read_square(turn.state.get("opponent_capture")))
        if turn.sense_actions:  # otherwise it was done before the connection was lost
            square = guess.best_sense([chess.parse_square(name) for name in turn.sense_actions])
            sensed = await turn.sense(chess.square_name(square))
            guess.saw(read_sense(sensed["sense_result"]))
        move = await self._choose(turn)
        moved = await turn.move(move.uci() if move else None)
        guess.moved(move, read_move(moved.get("taken_move")), read_square(moved.get("capture_square")))

    async def _choose(self, turn: Turn) -> chess.Move | None:
        """Return the move on the guess, from the engine if it accepts the guess."""
        actions = {chess.Move.from_uci(text) for text in turn.move_actions}
        choice = self._guess.choose(actions)
        if not isinstance(choice, chess.Board):
            return choice
        result = await self._engine.think(turn.state, choice)
        return result.move if result.move in actions else None

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """Do nothing: there is nothing to keep."""

    async def aclose(self) -> None:
        """Do nothing: the engine belongs to its creator."""
