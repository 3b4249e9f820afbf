"""Games in which a learner has one seat, and an opponent the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import chess
import numpy as np
from numpy.typing import NDArray

from gm_recon import WinReason

from .batch import BatchedRbc
from .buffers import Buffer
from .games import check
from .kernels import stepping
from .kernels.layout import NONE, TO_MOVE, TO_SENSE
from .observed import Illegal, Shown, check_illegal, check_shown
from .opponents import Ends, Opponent, answer, check_opponent, play_randomly
from .turns import ACTIONS, act, act_legally, draw_legal, find_illegal, usable, write_masks

Seat = Literal["white", "black", "random"]
SEATS = get_args(Seat)


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
    :ivar winners: int64[n], the winners' colours; -1 for a draw or while a game goes on.
    :ivar reasons: int32[n], why games ended, values of ``gm_recon.WinReason``; 0 for an illegal action and else.
    :ivar ready: whether the games can be stepped: they were begun, and no error stopped the opponent's turn since.
    :ivar given: int64[n], the value of the ``gm_recon.WinReason`` by which the opponent has lost, where it resigned or
        ran out of time; in the batch these games are not over. A game that it loses before the learner's first action
        ends with that action, whatever it is.
    """

    def __init__(self, n: int, rules: SeatRules, options: dict[str, Any], *, copy: bool = True) -> None:
        """Make games that must be begun.

        :param options: those of the batch.
        :param copy: whether :meth:`observations` and :meth:`masks` are new arrays in each call.
        """
        check(rules.seat in SEATS, f"seat: {rules.seat!r} is not one of {', '.join(SEATS)}")
        check_shown(rules.observation)
        check_illegal(rules.illegal)
        self._opponent: Opponent = play_randomly if rules.opponent is None else rules.opponent
        check_opponent(self._opponent)
        self.batch, self._rules, self._copy = BatchedRbc(n, autoreset=True, **options), rules, copy
        self.seats = np.full(n, chess.WHITE, np.bool_)
        self.over, self.forfeited, self._closed, self._waiting = np.zeros((4, n), np.bool_)
        self.given, self.winners = np.zeros(n, np.int64), np.full(n, NONE, np.int64)
        self.reasons, self._rewards = np.zeros(n, np.int32), np.zeros(n)
        self._masks = Buffer((n, ACTIONS), np.uint8, np.uint8)
        self.ready = False

    def begin(self, rng: np.random.Generator, games: NDArray[np.bool_] | None = None) -> None:
        """Begin games, and play up to the learner's first turn.

        :param games: which ones, bool[n]; None for all. The others do not change.
        """
        self._rng, self.ready = rng, False
        chosen = np.ones(self.batch.n, np.bool_) if games is None else games
        self.batch.reset(int(rng.integers(2**63)), chosen)
        self._begin(chosen)
        self.over[chosen] = self.forfeited[chosen] = False
        self.winners[chosen], self.reasons[chosen] = NONE, 0
        self._answer()
        self._closed[:] = self.forfeited | (self.given != 0)
        self.ready = True

    def step(self, actions: NDArray[Any]) -> NDArray[np.float64]:
        """Take one action of the learner in each game, and play up to its next decision.

        A game that was over begins anew instead.

        :param actions: integers, (n,); see :mod:`gm_env.turns`.
        :returns: the rewards, float64[n], which the next step overwrites.
        :raises gm_env.IllegalAction: a game does not allow its action, no game has changed, and ``illegal="raise"``;
            or the opponent's action is illegal. After an error of the opponent's the games are not :attr:`ready`.
        :raises TypeError: the actions are not integers.
        :raises ValueError: their shape is wrong.
        """
        chosen, acting = usable(actions, (self.batch.n,)), ~(self.over | self._closed)
        if self._rules.illegal == "raise":
            act(self.batch, chosen, acting)
            illegal = None
        else:
            if (illegal := find_illegal(self.batch, chosen, acting)) is not None:
                acting &= ~illegal
            act_legally(self.batch, chosen, acting)
        self.ready = False
        was_over = self.over.copy() if self.over.any() else None
        if was_over is not None:
            self._begin(was_over)
        self.forfeited[:] = False if illegal is None else illegal
        self._answer()
        stepping.settle_all(
            self.batch._numbers,
            self.seats,
            self.given,
            self.forfeited,
            self._closed,
            self.over,
            self.winners,
            self.reasons,
            self._rewards,
        )
        self._end(self.over if was_over is None else self.over & ~was_over)
        self.ready = True
        return self._rewards

    def observations(self) -> NDArray[Any]:
        """Return what the learner observed, this turn or ever."""
        if self._rules.observation == "turn":
            return self.batch.observations(self.seats, copy=self._copy)
        return self.batch.information_states(self.seats, copy=self._copy)

    def masks(self) -> NDArray[np.int8]:
        """Return the learner's action masks: int8[n, 4738]; a game that is over has the move's pass alone."""
        masks = self._masks.writable(self._copy)
        write_masks(self.batch, self._closed, masks)
        return self._masks.shown(masks).view(np.int8)

    def draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw a legal action for each game, all alike: int64[n]."""
        return draw_legal(self.batch, self._closed, rng)

    def close(self) -> None:
        """Close the opponent, if it can be closed."""
        if (close := getattr(self._opponent, "close", None)) is not None:
            close()

    def _begin(self, games: NDArray[np.bool_]) -> None:
        """Begin games anew and seat the learner."""
        batch = self.batch
        stepping.begin_all(
            games,
            batch._state,
            batch._numbers,
            batch._planes,
            batch._first_state,
            batch._first_numbers,
            batch._windows,
            batch._results,
            batch._rewards,
            batch._ended,
        )
        begun = np.flatnonzero(games)
        if self._rules.seat == "random":
            self.seats[begun] = self._rng.integers(2, size=begun.size)
        else:
            self.seats[begun] = self._rules.seat == "white"
        self.given[begun] = 0
        if (begin := getattr(self._opponent, "begin", None)) is not None:
            begin(begun, 1 - self.seats[begun].astype(np.int32))

    def _answer(self) -> None:
        """Let the opponent play its turn where it is to move."""
        for phase in (TO_SENSE, TO_MOVE):
            if stepping.mark_waiting(self.batch._numbers, self.seats, self.given, phase, self._waiting):
                self.given += answer(self.batch, self._waiting, self._opponent, self._rng)

    def _end(self, ended: NDArray[np.bool_]) -> None:
        """Tell the opponent of games that have ended, if it has the method."""
        end = getattr(self._opponent, "end", None)
        if end is None or not ended.any():
            return
        games = np.flatnonzero(ended)
        reasons = np.where(self.forfeited, WinReason.RESIGN.value, self.reasons).astype(np.int64)
        colors = 1 - self.seats.astype(np.int32)
        end(Ends(self.batch, games, colors[games], self.winners[games], reasons[games]))
