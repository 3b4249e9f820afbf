"""Opponents: policies that play the other seat of the games of :mod:`gm_env.gymnasium`."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gm_recon import History, WinReason

from .batch import BatchedRbc
from .kernels.layout import NONE, TO_SENSE
from .turns import FIRST_SENSE, act, action_masks, usable

__all__ = ["Opponent", "Decisions", "Ends", "RESIGN", "OUT_OF_TIME", "play_randomly"]

#: In place of an action of an opponent: it loses the game by resignation.
RESIGN = -WinReason.RESIGN.value
#: Likewise: it loses the game because its time is up.
OUT_OF_TIME = -WinReason.TIMEOUT.value


class Seats:
    """The opponent's seats in some games; row ``i`` of each array is the game ``games[i]``.

    :ivar games: int64[k], the games' places in the environment; always 0 in a single one.
    :ivar colors: int32[k], the opponent's colour: 1 is White, 0 is Black.
    """

    def __init__(self, batch: BatchedRbc, games: NDArray[np.int64], colors: NDArray[np.int32]) -> None:
        self._batch, self.games, self.colors = batch, games, colors

    def observations(self) -> NDArray[np.uint8]:
        """Return what the opponent observed this turn: uint8[k, 24, 8, 8] (``gm_env.OBSERVATION``)."""
        return self._batch.observations(self._viewers())[self.games]

    def information_states(self) -> NDArray[np.int16]:
        """Return all that the opponent has observed in the game: int16[k, 8 + recall, 14] (``gm_env.INFORMATION``)."""
        return self._batch.information_states(self._viewers())[self.games]

    def start_fens(self) -> list[str]:
        """Return the positions in which the games began, which both players know."""
        return [self._batch._start_fen(game) for game in self.games.tolist()]

    def _viewers(self) -> NDArray[np.int32]:
        viewers = self._batch.colors.copy()
        viewers[self.games] = self.colors
        return viewers


class Decisions(Seats):
    """The decisions that wait for an opponent: all of them senses, or all of them moves.

    Everything here is what the opponent observed. Use them in the call that gets them: later, :meth:`action_masks` and
    :meth:`draw` raise a RuntimeError.

    :ivar is_sense: whether the decisions are senses, and not moves.
    :ivar rng: the environment's generator of random numbers; draw from it, and its seed decides the games.
    """

    def __init__(self, batch: BatchedRbc, games: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Show the sides to move of these games, which are in one phase."""
        super().__init__(batch, games, batch.colors[games])
        self.rng, self._phase = rng, int(batch.phases[games[0]])
        self.is_sense = self._phase == TO_SENSE

    def action_masks(self) -> NDArray[np.int8]:
        """Return the actions that it may take: int8[k, 4738] of 0 and 1 (:mod:`gm_env.turns`)."""
        self._check_wait()
        return action_masks(self._batch)[self.games]

    def draw(self) -> NDArray[np.int64]:
        """Return random actions, each of a move's legal ones and the pass alike, or each of the 64 squares.

        Those of a game do not depend on the other games.
        """
        self._check_wait()
        if self.is_sense:
            return self._batch.sample_senses(games=self.games)[self.games] + FIRST_SENSE
        return self._batch.sample_moves(games=self.games)[self.games]

    def _check_wait(self) -> None:
        batch, games = self._batch, self.games
        if (batch.colors[games] != self.colors).any() or (batch.phases[games] != self._phase).any():
            raise RuntimeError("decisions: they no longer wait; use them in the call that gets them")


class Ends(Seats):
    """Games that are over: after its end a game is no secret.

    :ivar winners: int64[k], the winner's colour; -1 for a draw.
    :ivar reasons: int64[k], values of ``gm_recon.WinReason``. The player who takes an illegal action resigns.
    """

    def __init__(
        self,
        batch: BatchedRbc,
        games: NDArray[np.int64],
        colors: NDArray[np.int32],
        winners: NDArray[np.int64],
        reasons: NDArray[np.int64],
    ) -> None:
        super().__init__(batch, games, colors)
        self.winners, self.reasons = winners, reasons

    def history(self, row: int) -> History:
        """Return the course of the game ``games[row]``."""
        history, winner = self._batch.history(int(self.games[row])), int(self.winners[row])
        history.winner, history.win_reason = None if winner == NONE else bool(winner), WinReason(int(self.reasons[row]))
        return history


class Opponent(Protocol):
    """A callable that decides for the other seat.

    It may have three methods more: ``begin(games, colors)`` is called when games begin in these places (int64[k]), in
    which the opponent has these colours (int32[k]), also where a game was not finished; ``end(ends)`` with the
    :class:`Ends` of games; and ``close()`` with the environment's.
    """

    def __call__(self, decisions: Decisions) -> NDArray[Any]:
        """Return an action for each decision: integers, (k,), numbered as :mod:`gm_env.turns` says.

        :data:`RESIGN` and :data:`OUT_OF_TIME` lose the game, which ends with the learner's first action if the learner
        has not acted yet.
        """


def check_opponent(opponent: object) -> None:
    """Check that an opponent can be asked.

    :raises TypeError: it is a class, or cannot be called, such as the name of a bot.
    """
    if isinstance(opponent, type) or not callable(opponent):
        usual = "gm_env.policies.Greedy(), PlayerOpponent(MyBot) or gm_arena.opponent.BotOpponent('minimax')"
        raise TypeError(f"opponent: {opponent!r} is no policy; pass one, such as {usual}")


def play_randomly(decisions: Decisions) -> NDArray[np.int64]:
    """Decide at random: an :class:`Opponent`."""
    return decisions.draw()


def answer(
    batch: BatchedRbc, waiting: NDArray[np.bool_], opponent: Opponent, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Let the opponent act once in the games that wait for it, one at the least, all of which are in this phase.

    :returns: int64[n], for games that the opponent has lost instead the value of the ``gm_recon.WinReason``, else 0.
    :raises gm_env.IllegalAction: a game does not allow the opponent's action.
    :raises TypeError: the opponent's actions are not integers.
    :raises ValueError: their shape is wrong.
    """
    decisions, lost = Decisions(batch, np.flatnonzero(waiting), rng), np.zeros(batch.n, np.int64)
    chosen = usable(opponent(decisions), decisions.games.shape, "the opponent's actions")
    actions = np.zeros(batch.n, np.int64)
    actions[decisions.games] = chosen
    if chosen.min() < 0:
        lost = np.where((actions == RESIGN) | (actions == OUT_OF_TIME), -actions, 0)
        waiting = waiting & (lost == 0)
    then = "The learner has acted, and the games cannot go on: call reset()"
    act(batch, actions, waiting, name="the opponent's actions", then=then)
    return lost
