"""Players written for the package ``reconchess`` as opponents.

This module imports ``reconchess`` only when a game ends and where a player is named by a text; the players need it.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable
from typing import Any, Literal

import chess
import numpy as np
from chess import Move
from numpy.typing import NDArray

from gm_recon import History, ReconBoard

from .actions import action_of, sense_of
from .games import check
from .kernels.layout import PASS
from .observed_turn import ObservedTurn
from .opponents import OUT_OF_TIME, RESIGN, Decisions, Ends
from .turns import FIRST_SENSE

__all__ = ["ReconchessOpponent"]

#: What a player's failure does: its game is lost, with a RuntimeWarning, or the exception leaves the environment.
Failing = Literal["lose", "raise"]


class ReconchessOpponent:
    """Any ``reconchess.Player`` as an :class:`gm_env.opponents.Opponent`, with a new player for each game::

        from reconchess.bots.trout_bot import TroutBot
        env = gymnasium.make("gm_env.gymnasium:gmd/RBC-v0", opponent=ReconchessOpponent(TroutBot))

    A player is called as in ``reconchess.play_local_game``: the same methods in the same order with the same values,
    each list in the same order. Two things differ: ``handle_move_result`` comes at the latest moment, when its next
    turn begins or the game ends; and a game that the environment gives up (by ``reset`` or ``close``) ends with neither
    winner nor reason and an empty history, since players free their engines then.

    **Time.** Each player has ``seconds`` and ``increment`` seconds more for each turn, by the real time that its
    methods take; ``seconds_left`` tells it. A player without time left loses. So games depend on the machine's speed
    only where a player looks at the clock or runs out of time. Those of a vector environment are asked one after the
    other.

    **Failures.** A player that raises an exception, or senses or moves where it may not, loses the game by resignation,
    with a RuntimeWarning; with ``failing="raise"`` the exception leaves the environment, which must be reset then.
    reconchess calls an illegal action a ValueError.
    """

    def __init__(
        self,
        player: Callable[[], Any] | str,
        *,
        seconds: float | None = 900.0,
        increment: float = 5.0,
        failing: Failing = "lose",
        opponent_name: str = "learner",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """:param player: a class, or a function that makes players, or a file or module as ``rc-bot-match`` names it.
        :param seconds: None for no limit: the player sees infinitely many left.
        :param opponent_name: the learner's name, as the player sees it.
        :param now: a clock in seconds.
        :raises ValueError: ``seconds`` is not above 0, or ``failing`` is none of its values.
        """
        check(seconds is None or seconds > 0, f"seconds: {seconds} is not above 0; use None for no limit")
        check(failing in ("lose", "raise"), f"failing: {failing!r} is not one of lose, raise")
        self._make = _load(player) if isinstance(player, str) else player
        self._clock = math.inf if seconds is None else seconds, increment, now
        self._failing, self._opponent_name = failing, opponent_name
        self._seats: dict[int, _Seat] = {}

    def begin(self, games: NDArray[np.int64], colors: NDArray[np.int32]) -> None:
        """Give up the games that are not finished in these places."""
        for game in games.tolist():
            self._give_up(game)

    def __call__(self, decisions: Decisions) -> NDArray[np.int64]:
        """Return an action for each decision; :data:`RESIGN` for a player that fails."""
        rows = zip(decisions.games.tolist(), decisions.colors.tolist(), decisions.observations(), strict=True)
        return np.array([self._decide(decisions, row, *given) for row, given in enumerate(rows)], np.int64)

    def _decide(self, decisions: Decisions, row: int, game: int, color: int, observation: NDArray[np.uint8]) -> int:
        observed = ObservedTurn(observation, bool(color))
        try:
            if game not in self._seats:
                fen = decisions.start_fens()[row]
                self._seats[game] = _Seat(self._make(), bool(color), fen, self._opponent_name, self._clock)
            return self._seats[game].sense(observed) if decisions.is_sense else self._seats[game].move(observed)
        except _OutOfTime:
            return OUT_OF_TIME
        except (Exception, SystemExit) as error:
            self._complain(error, "It loses the game.")
            return RESIGN

    def end(self, ends: Ends) -> None:
        """Tell the players of games that are over."""
        for row, (game, observation) in enumerate(zip(ends.games.tolist(), ends.observations(), strict=True)):
            if (seat := self._seats.pop(game, None)) is not None:
                observed, history = ObservedTurn(observation, seat.color), ends.history(row)
                self._end(lambda seat=seat, observed=observed, history=history: seat.end(observed, history))  # type: ignore[misc]

    def close(self) -> None:
        """Give up all games."""
        for game in list(self._seats):
            self._give_up(game)

    def _give_up(self, game: int) -> None:
        if (seat := self._seats.pop(game, None)) is not None:
            self._end(seat.give_up)

    def _end(self, end: Callable[[], None]) -> None:
        try:
            end()
        except (Exception, SystemExit) as error:
            self._complain(error, "The game was over.")

    def _complain(self, error: BaseException, outcome: str) -> None:
        if self._failing == "raise":
            raise error
        name = getattr(self._make, "__name__", "the player")
        warnings.warn(f"{name} raised {type(error).__name__}: {error}. {outcome}", RuntimeWarning, stacklevel=4)


class _OutOfTime(Exception):
    """Raised where a player has used its time up."""


class _Seat:
    """A player in one game."""

    def __init__(
        self, player: Any, color: chess.Color, fen: str, opponent_name: str, clock: tuple[float, float, Any]
    ) -> None:
        self.color, self._player, self._opponent_name = color, player, opponent_name
        self._left, self._increment, self._now = clock
        self._is_settled = True
        self._requested: tuple[Move | None, Move | None] = None, None
        self._actions: tuple[list[chess.Square], list[Move]] = [], []
        player.handle_game_start(color, chess.Board(fen), opponent_name)
        self._since = self._now()

    def sense(self, observed: ObservedTurn) -> int:
        """Begin a turn; return the number of the player's sense."""
        self._since, player = self._now(), self._player
        self._settle(observed)
        lost = observed.lost()
        player.handle_opponent_move_result(lost is not None, lost)
        self._board = ReconBoard.of(observed.own_board())
        self._actions = list(chess.SQUARES), self._board.move_actions().copy()
        square = player.choose_sense(*self._actions, self._seconds_left())
        if square is not None and square not in chess.SQUARES:
            raise ValueError(f"choose_sense: {square!r} is not a square")
        self._charge()
        return FIRST_SENSE + sense_of(None if square is None else int(square), self.color)

    def move(self, observed: ObservedTurn) -> int:
        """Return the number of the player's move."""
        self._since, player = self._now(), self._player
        player.handle_sense_result(observed.cells())
        requested = player.choose_move(self._actions[1], self._seconds_left())
        meant = None if requested is None else self._board.promoting(requested)
        if meant is not None and meant not in self._board.move_actions():
            raise ValueError(f"choose_move: {requested} is not in move_actions")
        self._charge()
        self._left += self._increment
        self._is_settled, self._requested = False, (requested, meant)
        return PASS if meant is None else action_of(meant, self.color)

    def end(self, observed: ObservedTurn, history: History) -> None:
        """Tell the player how the game ended."""
        from reconchess import GameHistoryDecoder

        self._settle(observed)
        names = (type(self._player).__name__, self._opponent_name)
        saved = json.loads(history.to_json(*(names if self.color else names[::-1])), cls=GameHistoryDecoder)
        self._player.handle_game_end(saved._winner_color, saved._win_reason, saved)

    def give_up(self) -> None:
        """Tell the player that the game is not played to its end."""
        from reconchess import GameHistory

        self._player.handle_game_end(None, None, GameHistory())

    def _settle(self, observed: ObservedTurn) -> None:
        """Tell the player what its last move came to, unless it knows."""
        if not self._is_settled:
            self._is_settled, (requested, meant) = True, self._requested
            capture = observed.captured()
            self._player.handle_move_result(requested, observed.made(meant), capture is not None, capture)

    def _seconds_left(self) -> float:
        return float(self._left - (self._now() - self._since))

    def _charge(self) -> None:
        self._left = self._seconds_left()
        if self._left <= 0:
            raise _OutOfTime


def _load(source: str) -> Callable[[], Any]:
    from reconchess import load_player

    make: Callable[[], Any] = load_player(source)[1]
    return make
