"""Players (:class:`gm_recon.Player`) as opponents in environments."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import gm_recon

from .games import check
from .observed_turn import ObservedTurn
from .opponents import OUT_OF_TIME, RESIGN, Decisions, Ends
from .player_seat import Clock, OutOfTime, PlayerSeat
from .turns import FIRST_SENSE

__all__ = ["PlayerOpponent"]

#: What a player's failure does: its game is lost, with a RuntimeWarning, or the exception leaves the environment.
Failing = Literal["lose", "raise"]


class PlayerOpponent:
    """Players as an :class:`gm_env.opponents.Opponent`, with a new one for each game::

        env = gymnasium.make("gm_env.gymnasium:gmd/RBC-v0", opponent=PlayerOpponent(MyBot))

    A player is called as by :func:`gm_recon.play_local`: the same methods in the same order with the same values, each
    list in the same order. Two things differ: ``handle_move_result`` comes at the latest moment, when its next turn
    begins or the game ends; and a game that the environment gives up (by ``reset`` or ``close``) ends with neither
    winner nor reason and an empty history, since players free their engines then. A player that has a method ``close``
    is closed after its game, since it was made here.

    **Time.** Each player has ``seconds`` and ``increment`` seconds more for each turn; ``seconds_left`` tells it. The
    real time of four methods counts: ``handle_opponent_move_result``, ``choose_sense``, ``handle_sense_result`` and
    ``choose_move``. A player without time left loses. So games depend on the machine's speed
    only where a player looks at the clock or runs out of time. Those of a vector environment are asked one after the
    other.

    **Failures.** A player that raises an exception, or senses or moves where it may not, loses the game by resignation,
    with a RuntimeWarning; with ``failing="raise"`` the exception leaves the environment, which must be reset then.
    reconchess calls an illegal action a ValueError.
    """

    def __init__(
        self,
        player: Callable[[], gm_recon.Player],
        *,
        seconds: float | None = 900.0,
        increment: float = 5.0,
        failing: Failing = "lose",
        opponent_name: str = "learner",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """:param player: a class, or a function that makes players.
        :param seconds: None for no limit: the player sees infinitely many left.
        :param opponent_name: the learner's name, as the player sees it.
        :param now: a clock in seconds.
        :raises ValueError: ``seconds`` is not above 0, or ``failing`` is none of its values.
        """
        check(seconds is None or seconds > 0, f"seconds: {seconds} is not above 0; use None for no limit")
        check(failing in ("lose", "raise"), f"failing: {failing!r} is not one of lose, raise")
        self._make, self._clock = player, Clock.of(seconds, increment, now)
        self._failing, self._opponent_name = failing, opponent_name
        self._seats: dict[int, PlayerSeat] = {}

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
                self._seats[game] = PlayerSeat(self._make(), bool(color), fen, self._opponent_name, self._clock)
                self._seats[game].begin()
            seat = self._seats[game]
            if not decisions.is_sense:
                return seat.move(observed)
            seat.settle_by(observed)
            return FIRST_SENSE + seat.sense(observed)
        except OutOfTime:
            return OUT_OF_TIME
        except (Exception, SystemExit) as error:
            self._complain(error, "It loses the game.")
            return RESIGN

    def end(self, ends: Ends) -> None:
        """Tell the players of games that are over."""
        for row, (game, observation) in enumerate(zip(ends.games.tolist(), ends.observations(), strict=True)):
            if (seat := self._seats.pop(game, None)) is not None:
                observed, history = ObservedTurn(observation, seat.color), ends.history(row)
                self._end(seat, partial(seat.end, history, observed))

    def close(self) -> None:
        """Give up all games."""
        for game in list(self._seats):
            self._give_up(game)

    def _give_up(self, game: int) -> None:
        if (seat := self._seats.pop(game, None)) is not None:
            self._end(seat, seat.give_up)

    def _end(self, seat: PlayerSeat, end: Callable[[], None]) -> None:
        """Tell a player of the end, and close it, whatever it raises."""
        try:
            try:
                end()
            finally:
                getattr(seat.player, "close", lambda: None)()
        except (Exception, SystemExit) as error:
            self._complain(error, "The game was over.")

    def _complain(self, error: BaseException, outcome: str) -> None:
        if self._failing == "raise":
            raise error
        name = getattr(self._make, "__name__", "the player")
        warnings.warn(f"{name} raised {type(error).__name__}: {error}. {outcome}", RuntimeWarning, stacklevel=4)
