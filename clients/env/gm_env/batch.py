"""A batch of games of reconnaissance blind chess that are stepped together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gm_recon import History

from . import records
from .arguments import array, integers, places
from .buffers import frozen
from .games import check
from .kernels import sampling, stepping
from .kernels.layout import (
    DRAWS,
    EPISODE,
    MOVES,
    NONE,
    OVER,
    PASS,
    PHASE,
    REASON,
    RESTING,
    SEED,
    SENSE_PASS,
    SKIP,
    TO_SENSE,
    WINNER,
)
from .views import Views


class IllegalAction(ValueError):
    """Raised for an action that a game does not allow. No game of the batch has changed.

    :ivar game: the first such game's place in the batch.
    :ivar action: its action.
    """

    def __init__(self, message: str, game: int, action: int) -> None:
        super().__init__(message)
        self.game, self.action = game, action

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle makes the error of in another process."""
        return type(self), (str(self), self.game, self.action), vars(self)


class BatchedRbc(Views):
    """``n`` games, of which each turn is two calls: :meth:`sense`, then :meth:`move`.

    ::

        batch = BatchedRbc(64, seed=1)
        while True:
            batch.sense(batch.sample_senses())
            batch.observations()                            # uint8[64, 24, 8, 8], of each side to move
            rewards, ended = batch.move(batch.sample_moves())

    **Actions** are integers, one for each game, as the side to move sees the board (:mod:`gm_env.actions`). SKIP (-1)
    leaves a game as it is.

    **Arrays** that are attributes, or that the methods that step or sample return, are the same in every call: they are
    read-only, and the next call overwrites them; copy what you keep. The methods that show games, such as
    :meth:`observations`, return new arrays, which other libraries share by DLPack::

        torch.from_dlpack(batch.observations())             # or jax.dlpack.from_dlpack; nothing is copied
        batch.move(actions.numpy())                         # of torch; or an array of jax as it is

    With ``copy=False`` these are also the same in every call, read-only and overwritten: that saves making them.

    **A finished game** has ``ended`` set by the call of :meth:`move` that finished it, and stays as it is until the
    next turn. In that turn it ignores its actions: :meth:`sense` starts a new game in its place, and :meth:`move` does
    nothing there. So the reset takes one turn, as in Gymnasium's ``AutoresetMode.NEXT_STEP``. With ``autoreset=False``
    it ignores all actions until :meth:`reset`, also when no game is left: stop when all phases are OVER.

    The same seed and actions give the same games and random numbers on every platform. Kernels release the GIL. Use a
    batch for each thread: the calls of several threads take turns, and overwrite each other's arrays.

    :ivar n: the number of games.
    :ivar colors: int32[n], the side to move: 1 is White, 0 is Black.
    :ivar phases: int32[n], one of ``TO_SENSE``, ``TO_MOVE``, ``OVER`` and ``RESTING``.
    :ivar plies: int32[n], completed turns of both players.
    :ivar episodes: int32[n], games that were finished in this place before.
    :ivar lost: int32[n], what the side to move observes at the start of its turn: the square on which the opponent's
        turn captured, as it sees the board; -1 if nothing.
    :ivar windows: uint8[n, 9], what the last :meth:`sense` returned; 15 in all cells from the move on.
    :ivar results: int32[n, 3], of the last completed turn: the move requested and the move made (PASS if none), and the
        square of the capture (-1 if none), as the player who moved sees the board; PASS, PASS, -1 before the first
        turn. They are for that player alone: its opponent observes no more than :attr:`lost`.
    :ivar rewards: float32[n, 2], for Black and White, of the last call: 1 and -1 where a king was captured, else 0.
    :ivar ended: bool[n], whether the last call ended the game.
    :ivar reasons: int32[n], values of ``gm_recon.WinReason``; 0 while a game goes on.
    :ivar winners: int32[n], the winner's colour; -1 for a draw or while a game goes on.
    :ivar legal: uint64[n, 73], the moves that may be requested: bit ``source`` of each plane. A pass is always allowed.
        It depends on the player's own pieces alone and is there from the start of the turn; zero for a finished game.
    """

    def sense(self, actions: NDArray[Any]) -> NDArray[np.uint8]:
        """Sense in all games: the first half of a turn.

        :param actions: integers, (n,): a square from 0 to 63 as the player sees the board, 64 for a pass, or SKIP.
        :returns: :attr:`windows`, the cells of the three ranks around the square from the lowest: 0 for an empty
            square, 1 to 6 for an own pawn, knight, bishop, rook, queen or king, 7 to 12 for an opponent's, 15 for none.
        :raises IllegalAction: a game does not allow its action.
        :raises TypeError: they are not integers.
        :raises ValueError: their shape is wrong.
        """
        with self._lock:
            self._take(actions)
            bad = stepping.sense_all(
                self._actions,
                self._state,
                self._numbers,
                self._records,
                self._planes,
                self._first_state,
                self._first_numbers,
                self._windows,
                self._results,
                self._rewards,
                self._ended,
                self.autoreset,
            )
            if bad >= 0:
                allowed = f"a sense is a square from 0 to 63, {SENSE_PASS} passes, {SKIP} skips the game"
                raise self._illegal(bad, int(self._actions[bad]), allowed)
        return self.windows

    def move(self, actions: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Move in all games: the second half of a turn. :attr:`results` has what became of the moves.

        :param actions: integers, (n,): a move by planes (:mod:`gm_env.actions`), PASS, or SKIP.
        :returns: :attr:`rewards` and :attr:`ended`.
        :raises IllegalAction: a game does not allow its action.
        :raises TypeError: they are not integers.
        :raises ValueError: their shape is wrong.
        """
        with self._lock:
            self._take(actions)
            longest = stepping.move_all(
                self._actions,
                self._state,
                self._numbers,
                self._records,
                self._planes,
                self._windows,
                self._results,
                self._rewards,
                self._ended,
                *self._limits,
            )
            if longest < 0:
                allowed = f"a move has its bit set in legal, {PASS} passes, {SKIP} skips the game"
                raise self._illegal(-1 - longest, int(self._actions[-1 - longest]), allowed)
            self._make_room(longest)
        return self.rewards, self.ended

    def _make_room(self, turns: int) -> None:
        """Let the records have room for another turn."""
        while turns >= self._records.shape[1]:
            self._records = np.concatenate([self._records, np.zeros_like(self._records)], axis=1)

    def _take(self, actions: NDArray[Any]) -> None:
        """Keep a copy of the actions: kernels check them first, and nobody may change them in between."""
        self._actions[:] = integers("actions", actions, self._actions.shape)

    def _illegal(
        self, game: int, action: int, allowed: str, *, name: str = "actions", then: str = "No game has changed"
    ) -> IllegalAction:
        """Return the error of a game that does not allow an action.

        :param allowed: which actions it allows.
        :param name: what the error calls the actions.
        :param then: its last sentence.
        """
        side = "White" if self.colors[game] else "Black"
        phase = "to sense" if self.phases[game] in (TO_SENSE, RESTING) else "to move"
        message = f"{name}: game {game} does not allow {action}: {side} is {phase}; {allowed}. {then}"
        return IllegalAction(message, game, action)

    # --- Random actions -----------------------------------------------------------------------------------------

    def sample_senses(self, logits: NDArray[np.float32] | None = None, games: Any = None) -> NDArray[np.int64]:
        """Draw senses for :meth:`sense`: any of the 64 squares alike, or by logits.

        :param logits: float32, (n, 64), or (n, 65) with the pass; minus infinity is never drawn.
        :param games: the games that draw, as for :meth:`reset`; the others get SKIP, and their random numbers stay.
        :returns: int64[n]; games that are not to sense get an action that they accept. The same bits of logits give the
            same draws on every platform; a network's logits may differ between platforms.
        :raises TypeError: the logits are not float32, or the games are neither integers nor bool.
        :raises ValueError: a shape is wrong, or a game's logits are not numbers, or none of them is finite.
        :raises IndexError: there is no such game.
        """
        with self._lock:
            choice = (self._state, self._numbers, self._chosen(games))
            if logits is None:
                sampling.draw_senses(*choice, self._drawn_senses)
            else:
                usable, draws = self._usable(logits, (64, 65)), self._state[:, DRAWS].copy()
                bad = sampling.draw_senses_by(*choice, usable, self._drawn_senses, *self._weighing())
                self._refuse_logits(bad, draws)
        return self._drawn_senses

    def sample_moves(self, logits: NDArray[np.float32] | None = None, games: Any = None) -> NDArray[np.int64]:
        """Draw moves for :meth:`move` out of the legal ones and the pass: all alike, or by logits.

        :param logits: float32, (n, 4673).
        :param games: as for :meth:`sample_senses`.
        :returns: as :meth:`sample_senses`.
        :raises TypeError: as :meth:`sample_senses`.
        :raises ValueError: as :meth:`sample_senses`.
        :raises IndexError: as :meth:`sample_senses`.
        """
        with self._lock:
            choice = (self._state, self._numbers, self._planes, self._chosen(games))
            if logits is None:
                sampling.draw_moves(*choice, self._totals, self._drawn_moves)
            else:
                usable, draws = self._usable(logits, (MOVES,)), self._state[:, DRAWS].copy()
                bad = sampling.draw_moves_by(*choice, usable, self._drawn_moves, *self._weighing())
                self._refuse_logits(bad, draws)
        return self._drawn_moves

    def _chosen(self, games: Any) -> NDArray[np.bool_]:
        """Return which games are meant, bool[n]: as for :meth:`reset`."""
        chosen = np.full(self.n, games is None, np.bool_)
        if games is not None:
            chosen[places(games, self.n)] = True
        return chosen

    def _weighing(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return places for a game's legal actions and their weights."""
        return np.empty(MOVES, np.int64), np.empty(MOVES, np.uint64)

    def _usable(self, logits: NDArray[Any], widths: tuple[int, ...]) -> NDArray[np.float32]:
        logits = array("logits", logits)
        if logits.dtype != np.float32:
            raise TypeError(f"logits: their type is {logits.dtype}; use float32")
        fits = logits.ndim == 2 and logits.shape[0] == self.n and logits.shape[1] in widths
        wanted = " or ".join(f"({self.n}, {width})" for width in widths)
        check(fits, f"logits: their shape is {logits.shape}; it must be {wanted}")
        return frozen(np.require(logits, requirements=["C", "A"]))

    def _refuse_logits(self, game: int, draws: NDArray[np.uint64]) -> None:
        if game >= 0:
            self._state[:, DRAWS] = draws
            raise ValueError(f"logits: those of game {game} have a nan, or no finite one among its legal actions")

    # --- Records ------------------------------------------------------------------------------------------------

    def history(self, game: int) -> History:
        """Return the course of a game so far, which knows everything; a pawn's promotion to a queen is always named.

        ``history(game).to_json(white, black)`` is the game as reconchess saves it, and a file for ``gmd import``.

        :raises IndexError: there is no such game.
        """
        game = self._find(game)
        with self._lock:
            return records.history_of(self._start_fen(game), self._numbers[game], self._records[game])

    def load(self, game: int, history: History) -> None:
        """Replace a game by the one of a history, such as ``gm_recon.read_json`` reads; later resets of this place
        begin where the history begins.

        :raises IndexError: there is no such game.
        :raises ValueError: the history is not a possible game under this batch's limits; nothing has changed.
        """
        game = self._find(game)
        limits: dict[str, Any] = {"reversible_moves": self.reversible_moves, "max_turns": self.max_turns}
        one = BatchedRbc(1, fens=history.start_fen, autoreset=False, recall=1, **limits)
        records.replay(one, history)
        with self._lock:
            self._replace(game, one, history)

    def _replace(self, game: int, one: BatchedRbc, history: History) -> None:
        self._make_room(one._records.shape[1] - 1)
        numbers = one._numbers[0]
        if history.win_reason is not None:
            numbers[PHASE], numbers[REASON] = OVER, history.win_reason.value
            numbers[WINNER] = NONE if history.winner is None else history.winner
        one._state[0, [DRAWS, SEED]], numbers[EPISODE] = self._state[game, [DRAWS, SEED]], self._numbers[game, EPISODE]
        self._first_state[game], self._first_numbers[game] = one._first_state[0], one._first_numbers[0]
        self._state[game], self._numbers[game] = one._state[0], numbers
        self._records[game, : one._records.shape[1]] = one._records[0]
        self._windows[game], self._results[game] = one._windows[0], one._results[0]
        self._rewards[game], self._ended[game] = 0, False
        stepping.list_all(self._state, self._numbers, self._planes)

    @classmethod
    def from_histories(cls, histories: Sequence[History], seed: int = 0, **options: Any) -> BatchedRbc:
        """Return a batch of the games of histories; the options are the other arguments.

        :raises ValueError: as :meth:`load`.
        """
        batch = cls(len(histories), seed, **options)
        for game, history in enumerate(histories):
            batch.load(game, history)
        return batch
