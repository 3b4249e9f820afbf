"""Games in which a learner has one seat, and an opponent the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import chess
import numpy as np
from numpy.typing import NDArray

from gm_recon import WinReason

from .batch import BatchedRbc
from .games import check
from .kernels.layout import NONE, OVER, PASS, TO_MOVE, TO_SENSE
from .observed import Shown, check_shown
from .opponents import Ends, Opponent, answer, play_randomly
from .turns import act, action_masks, find_illegal, usable

Seat = Literal["white", "black", "random"]
Illegal = Literal["lose", "raise"]
SEATS, ILLEGAL = get_args(Seat), get_args(Illegal)


@dataclass
class SeatRules:
    """How a learner plays.

    :ivar opponent: who has the other seat; by default :func:`gm_env.opponents.play_randomly`.
    :ivar seat: the learner's colour; a random one is drawn for each game.
    :ivar observation: what it observes: this turn alone, or all of the game so far.
    :ivar illegal: what its illegal action does: it loses the game, or raises :exc:`gm_env.IllegalAction`.
    """

    opponent: Opponent | None = None
    seat: Seat = "random"
    observation: Shown = "turn"
    illegal: Illegal = "lose"


class OneSeat:
    """``n`` games that always wait for the learner, or are over.

    :ivar batch: the games.
    :ivar seats: bool[n], the learner's colours.
    :ivar over: bool[n], which games are over.
    :ivar forfeited: bool[n], which are over by an illegal action; in the batch they are not.
    :ivar ready: whether the games can be stepped: they were begun, and no error stopped the opponent's turn since.
    :ivar given: int64[n], the value of the ``gm_recon.WinReason`` by which the opponent has lost, where it resigned or
        ran out of time; in the batch these games are not over. A game that it loses before the learner's first action
        ends with that action, whatever it is.
    """

    def __init__(self, n: int, rules: SeatRules, options: dict[str, Any]) -> None:
        """Make games that must be begun; the options are those of the batch."""
        check(rules.seat in SEATS, f"seat: {rules.seat!r} is not one of {', '.join(SEATS)}")
        check_shown(rules.observation)
        check(rules.illegal in ILLEGAL, f"illegal: {rules.illegal!r} is not one of {', '.join(ILLEGAL)}")
        self.batch, self._rules = BatchedRbc(n, autoreset=True, **options), rules
        self.seats = np.full(n, chess.WHITE, np.bool_)
        self.over, self.forfeited = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self.given = np.zeros(n, np.int64)
        self._opponent: Opponent = rules.opponent or play_randomly
        self.ready = False

    def begin(self, rng: np.random.Generator, games: NDArray[np.bool_] | None = None) -> None:
        """Begin games, and play up to the learner's first turn.

        :param games: which ones, bool[n]; None for all. The others do not change.
        """
        self._rng, self.ready = rng, False
        chosen = np.ones(self.batch.n, np.bool_) if games is None else games
        self.batch.reset(int(rng.integers(2**63)), chosen)
        self.over, self.forfeited = self.over & ~chosen, self.forfeited & ~chosen
        self._seat_learner(chosen)
        self._answer()
        self.ready = True

    def step(self, actions: NDArray[Any]) -> NDArray[np.float64]:
        """Take one action of the learner in each game, and play up to its next decision.

        A game that was over begins anew instead.

        :param actions: integers, (n,); see :mod:`gm_env.turns`.
        :returns: the rewards, float64[n].
        :raises gm_env.IllegalAction: a game does not allow its action, no game has changed, and ``illegal="raise"``;
            or the opponent's action is illegal. After an error of the opponent's the games are not :attr:`ready`.
        :raises TypeError: the actions are not integers.
        :raises ValueError: their shape is wrong.
        """
        chosen, was_over = usable(actions, (self.batch.n,)), self.over
        acting = ~was_over & (self.given == 0)
        illegal = acting & find_illegal(self.batch, chosen)
        act(self.batch, chosen, acting if self._rules.illegal == "raise" else acting & ~illegal)
        self.ready = False
        if was_over.any():
            self.batch.reset(games=was_over)
        self._seat_learner(was_over)
        self._answer()
        self.forfeited = illegal
        self.over = illegal | (self.batch.phases == OVER) | ((self.given != 0) & ~was_over)
        self._end(self.over & ~was_over)
        self.ready = True
        winners = self.winners()
        won = np.where(winners == self.seats, 1.0, -1.0)
        return np.where(self.over & (winners != NONE), won, 0.0)

    def winners(self) -> NDArray[np.int64]:
        """Return the winners' colours: int64[n]; -1 for a draw or while a game goes on."""
        winners = np.where(self.forfeited, ~self.seats, self.batch.winners)
        return np.where(self.over & (self.given != 0), self.seats, winners)

    def reasons(self) -> NDArray[np.int32]:
        """Return why games ended: int32[n], values of ``gm_recon.WinReason``; 0 for an illegal action and else."""
        return np.where(self.over & (self.given != 0), self.given, self.batch.reasons).astype(np.int32)

    def observations(self) -> NDArray[Any]:
        """Return what the learner observed, this turn or ever: a new array."""
        if self._rules.observation == "turn":
            return self.batch.observations(self.seats).copy()
        return self.batch.information_states(self.seats).copy()

    def masks(self) -> NDArray[np.int8]:
        """Return the learner's action masks: a new int8[n, 4738]; a game that is over has the move's pass alone."""
        masks, closed = action_masks(self.batch), self.forfeited | (self.given != 0)
        masks[closed] = 0
        masks[closed, PASS] = 1
        return masks

    def close(self) -> None:
        """Close the opponent, if it can be closed."""
        if (close := getattr(self._opponent, "close", None)) is not None:
            close()

    def _seat_learner(self, beginning: NDArray[np.bool_]) -> None:
        games = np.flatnonzero(beginning)
        if not games.size:
            return
        if self._rules.seat == "random":
            self.seats[games] = self._rng.integers(2, size=games.size)
        else:
            self.seats[games] = self._rules.seat == "white"
        self.given[games] = 0
        if (begin := getattr(self._opponent, "begin", None)) is not None:
            begin(games, 1 - self.seats[games].astype(np.int32))

    def _answer(self) -> None:
        """Let the opponent play its turn where it is to move."""
        for phase in (TO_SENSE, TO_MOVE):
            waiting = (self.batch.phases == phase) & (self.batch.colors != self.seats) & (self.given == 0)
            self.given += answer(self.batch, waiting, self._opponent, self._rng)

    def _end(self, ended: NDArray[np.bool_]) -> None:
        """Tell the opponent of games that have ended, if it has the method."""
        end, games = getattr(self._opponent, "end", None), np.flatnonzero(ended)
        if end is None or not games.size:
            return
        reasons = np.where(self.forfeited, WinReason.RESIGN.value, self.reasons())
        colors = 1 - self.seats.astype(np.int32)
        end(Ends(self.batch, games, colors[games], self.winners()[games], reasons[games]))
