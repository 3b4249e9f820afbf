"""PUCT over several positions at once, any of which may be the true one: the search of one player's turn.

Each position has a tree of its own, in which both sides see everything (:mod:`.lockstep.trees`). The rules are those of
blind chess: there is no check, a move may leave its own king to be captured, and capturing the other king wins.

The player does not know which position is the true one, so it cannot choose another move in each. So a simulation tries
one move in all positions, and the move's value is its average over them.

Attacks are not reported in blind chess. So a side that is attacked in a tree, though it sees everything there, loses
its king with the probability ``unseen``, and continues with the rest. That gives a value to attacking a king where
the attack could be answered, and to leaving no king where it may be attacked unseen. A capture is reported with its
square, so an attacker on that square is seen.

A position in which a king can be captured is won by the side to move, whatever an evaluator says. So a move that
leaves its king to be captured is refuted at its first visit; if that is so in all positions, it is not visited again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from chess import Color, Move

from gm_env.actions import action_of

from .lockstep.candidates import Examined
from .lockstep.forest import Forest


@dataclass(frozen=True)
class Found:
    """The result of a search about the moves that may be requested.

    :ivar visits: how often each move was visited, in all trees; the network learns these.
    :ivar values: the value of each move to the player, from -1 to 1; the worst for a move that was never visited.
    :ivar value: the value of the position, over all visits.
    """

    visits: dict[Move | None, int]
    values: dict[Move | None, float]
    value: float

    def best(self) -> Move | None:
        """Return the move with the most visits; of several the one with the highest value."""
        return max(self.visits, key=lambda move: (self.visits[move], self.values[move]))

    def lead(self) -> int:
        """Return by how many visits the best move leads."""
        counts = sorted(self.visits.values())
        return counts[-1] - counts[-2] if len(counts) > 1 else counts[0]


class Search:
    """A search from positions that may be true. Simulations are added with :meth:`deepen`."""

    def __init__(
        self,
        forest: Forest,
        positions: Examined,
        moves: Sequence[Move | None],
        color: Color,
        unseen: float = 0.0,
    ) -> None:
        """:param forest: searches them; another search with it ends this one.
        :param positions: at least one; the player is to move in each.
        :param moves: the moves that may be requested by the player's knowledge; None is a pass.
        :param color: the player's.
        :param unseen: the probability that an attack on a king is not seen by the king's side.
        """
        self._color = color
        self._forest, self._count = forest, len(positions.states)
        # A pawn's capture on the last rank without a piece, and one with a queen, are one request.
        self._moves = {action_of(move, color): move for move in moves}
        forest.begin(positions.states, positions.numbers, np.array([self._count]), [unseen])

    def deepen(self, simulations: int) -> None:
        """Visit so many more positions in each tree."""
        self._forest.deepen(simulations)

    def found(self) -> Found:
        """Return the results so far. A root in which a king can be captured puts all its visits on that."""
        result = self._forest.found()
        counts, totals = result.visits[0], result.totals[0]
        visits = {move: int(counts[action]) for action, move in self._moves.items()}
        values = {
            move: float(totals[action] / counts[action]) if counts[action] else -1.0
            for action, move in self._moves.items()
        }
        return Found(visits, values, float(result.values()[0]))

    def checks(self, move: Move | None) -> bool:
        """Return whether a move attacks the king unseen, in most of the positions."""
        return self._forest.checks([action_of(move, self._color)])[0]

    def is_decided(self, simulations: int) -> bool:
        """Return whether the best move stays the best, however so many more simulations end; or is a certain win."""
        found = self.found()
        return found.values[found.best()] >= 1 or found.lead() > simulations * self._count
