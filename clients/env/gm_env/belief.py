"""What a player may believe: every position that is possible by what it observed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import chess
import numpy as np
from chess import Board, Color, Move
from numpy.typing import NDArray

from gm_recon import WinReason
from gm_recon.belief import marginals, sample
from gm_recon.possible import CAP, PossiblePositions

from .actions import cells_of, move_of, seen_by
from .arguments import whole
from .compiled_positions import CompiledPositions
from .games import check
from .kernels import recalling
from .kernels.layout import COLOR, NONE, PASS, PLY, REASON, SENSE_PASS

if TYPE_CHECKING:
    from .batch import BatchedRbc

#: What a player observed in one step: of the opponent's turn ("o", capture), of its sense ("s", square, nine cells), or
#: of its move ("m", requested, made, capture). All numbers are those of an information state's row.
_Observation = tuple[str, list[int]]


class Beliefs:
    """The beliefs of both players of each game of a batch::

        beliefs = Beliefs(batch)
        belief = beliefs.of(game, chess.WHITE)
        belief.count(), belief.exact, belief.marginals(), belief.sample(10)

    They follow the batch by themselves, also over resets, when they are asked. Nothing is computed for players who are
    never asked for. **Cost.** The first question in a turn takes a tenth of a microsecond for each position that the
    opponent's move leads to, and a fraction of a millisecond in any case; turns of a player who asks seldom add up.
    """

    def __init__(self, batch: BatchedRbc, *, cap: int = CAP, seed: int = 0) -> None:
        """:param cap: the most positions kept for a player: see :attr:`Belief.exact`.
        :param seed: 0 to 2**64 - 1: decides which positions are kept beyond the cap, and which are drawn: the same
            seed, game, colour and questions give the same boards, by the same version of numpy.
        :raises TypeError: they are not integers.
        :raises ValueError: the cap is below 1, or the seed is out of its range.
        """
        cap, seed = whole("cap", cap), whole("seed", seed)
        check(cap >= 1, f"cap: {cap}: it must be at least 1")
        check(0 <= seed < 2**64, f"seed: {seed} is not from 0 to 2**64 - 1")
        self._batch, self._cap, self._seed = batch, cap, seed
        self._beliefs: dict[tuple[int, Color], Belief] = {}

    def of(self, game: int, color: Color) -> Belief:
        """Return a player's belief, which is always that of the present.

        :raises IndexError: there is no such game.
        """
        self._batch._find(game)
        key = (game, bool(color))
        if key not in self._beliefs:
            rng = _Rng(self._seed, game, key[1])
            self._beliefs[key] = Belief(self._batch, *key, self._cap, rng)
        return self._beliefs[key]


class Belief:
    """The belief of one player: the positions that are possible, all with the same weight.

    Squares are those of the board, also for Black. A finished game keeps the belief of its last turn; if that captured
    a king, the belief is the one before it. A game that begins anew has a new belief. The half-move clock tells no
    positions apart: near the limit ``reversible_moves`` some are counted in which the game would be over.

    **Exact** means that all possible positions are kept. Once a move of the opponent leads to more than the cap, that
    many of them are kept, drawn at random without replacement: particles, all with the same weight. The next sense
    generates all of them again, and the belief is exact again if no more than the cap agree with it. Otherwise it
    stays approximate until the game ends: particles that an observation contradicts are dropped and not replaced by
    others than their own successors, so that none may remain.
    """

    def __init__(self, batch: BatchedRbc, game: int, color: Color, cap: int, rng: _Rng) -> None:
        self._batch, self._game, self._color, self._cap, self._rng = batch, game, color, cap, rng
        self._observed: list[_Observation] = []
        self._start = b""
        self._positions: PossiblePositions | None = None

    def count(self) -> int:
        """Return how many positions are kept: all possible ones, if :attr:`exact`."""
        return len(self._now())

    @property
    def exact(self) -> bool:
        """Whether all possible positions are kept, the true one among them."""
        return self._now().complete

    @property
    def weights(self) -> NDArray[np.float64]:
        """The probabilities of the positions: float64[count], all the same."""
        count = self.count()
        return np.full(count, 1 / max(1, count))

    def marginals(self) -> NDArray[np.float64]:
        """Return the probability of each piece on each square: float64[12, 64].

        The rows are White's pawn, knight, bishop, rook, queen and king, then Black's (``gm_recon.belief.PIECES``); the
        columns are a1, b1 to h8.
        """
        return np.array(marginals(self._now()))

    def sample(self, k: int) -> list[Board]:
        """Return ``k`` different positions drawn at random, or all if there are fewer.

        Whether and how often it is asked decides nothing else: the positions that are kept stay the same.

        :raises TypeError: ``k`` is not an integer.
        :raises ValueError: it is less than 0.
        """
        k = whole("k", k)
        check(k >= 0, f"k: {k} is less than 0")
        return sample(self._now(), k, self._rng)

    def best_sense(self) -> chess.Square:
        """Return the square whose sense leaves the fewest positions, by a sample of a thousand. Takes milliseconds."""
        return self._now().best_sense()

    def __contains__(self, board: object) -> bool:
        """Return whether a position is among those that are kept."""
        return board in self._now()

    def _now(self) -> PossiblePositions:
        """Return the positions, once they take all into account that the player observed."""
        start = self._batch._first_state[self._game].tobytes() + self._batch._first_numbers[self._game].tobytes()
        seen = self._all_observed()
        if self._positions is None or start != self._start or seen[: len(self._observed)] != self._observed:
            fen = self._batch._start_fen(self._game)
            self._positions = PossiblePositions(
                self._color, fen, cap=self._cap, rng=self._rng, backend=CompiledPositions
            )
            self._start, self._observed = start, []
        for each in seen[len(self._observed) :]:
            self._rng.restart(len(self._observed))
            self._observe(self._positions, each)
            self._observed.append(each)
        return self._positions

    def _all_observed(self) -> list[_Observation]:
        """Return all that the player observed in this game while it went on."""
        numbers = self._batch._numbers[self._game]
        is_turn = bool(numbers[COLOR]) == self._color
        moves_first = bool(self._batch._first_numbers[self._game, COLOR]) == self._color
        seen: list[_Observation] = []
        for turn, row in enumerate(self._rows((int(numbers[PLY]) + is_turn + moves_first) // 2)):
            lost, sensed, *others = row
            if turn or not moves_first:
                seen.append(("o", [lost]))
            if sensed != NONE:
                seen.append(("s", [sensed, *others[:9]]))
            if others[9] != NONE:
                seen.append(("m", others[9:]))
        return seen[:-1] if numbers[REASON] == WinReason.KING_CAPTURE.value else seen

    def _rows(self, turns: int) -> list[list[int]]:
        """Return the player's information state, unabridged: a row for each of its turns up to the present."""
        rows = np.empty((1, turns, len(recalling.INFORMATION)), np.int16)
        one = slice(self._game, self._game + 1)
        color = np.array([self._color], np.int64)
        with self._batch._lock:
            recalling.recall(self._batch._numbers[one], self._batch._records[one], color, 0, rows)
        found: list[list[int]] = rows[0].tolist()
        return found

    def _observe(self, positions: PossiblePositions, seen: _Observation) -> None:
        kind, numbers = seen
        if kind == "o":
            positions.opponent_moved(self._square(numbers[0]))
        elif kind == "s":
            positions.saw([] if numbers[0] == SENSE_PASS else cells_of(numbers[0], numbers[1:], self._color))
        else:
            requested, made, capture = numbers
            positions.player_moved(self._move(positions, requested), self._move(positions, made), self._square(capture))

    def _square(self, square: int) -> chess.Square | None:
        return None if square == NONE else seen_by(square, self._color)

    def _move(self, positions: PossiblePositions, action: int) -> Move | None:
        own = positions._own
        return None if action == PASS else move_of(action, self._color, own.pawns & own.occupied_co[self._color])


class _Rng:
    """Random numbers of numpy's in the form that :class:`gm_recon.possible.PossiblePositions` takes.

    They start again with each observation, so that what was drawn before does not decide which positions are kept.
    """

    def __init__(self, *seed: int) -> None:
        self._seed = seed
        self.restart(0)

    def restart(self, observations: int) -> None:
        """Start the random numbers of the player's next observation."""
        self._generator = np.random.default_rng([*self._seed, observations])

    def getrandbits(self, k: int, /) -> int:
        return int(self._generator.integers(1 << k))

    def sample(self, population: Sequence[int], k: int) -> list[int]:
        return [population[each] for each in self._generator.choice(len(population), k, replace=False).tolist()]

    def choice(self, seq: Sequence[int]) -> int:
        return seq[int(self._generator.integers(len(seq)))]
