"""Negamax with alpha-beta: the value of a position if both sides play their best for so many half-moves.

Scores are for the side to move. A node returns the true score if that is between alpha and beta, and otherwise a bound
of it beyond one of them ("fail-soft").

The two recursive functions are long: a call costs as much as its work, a hundred thousand times a second.
"""

from __future__ import annotations

from .features import Features
from .limits import OutOfTime, Watch
from .ordering import Ordering, captures_in_order
from .position import Position
from .scores import INFINITY, MAX_PLY, from_table, mated, to_table
from .table import AT_LEAST, AT_MOST, EXACT, TranspositionTable

#: Nodes between two checks of the clock, less one: some five milliseconds.
_LOOK_EVERY = 255

#: The half-move clock at which a game is drawn.
_FIFTY_MOVES = 100

Line = tuple[int, ...]


class Search:
    """One search from a position, with its statistics and its limit.

    :ivar nodes: positions searched so far, including those of the quiescence search.
    :ivar deepest: the greatest distance from the root that was reached.
    :ivar lines: by distance from the root, the best moves found from there on.
    """

    def __init__(self, position: Position, features: Features, table: TranspositionTable, watch: Watch) -> None:
        self.position, self.features = position, features
        self.ordering = Ordering(features)
        self._table, self._watch = table, watch
        self.nodes = self.deepest = 0
        self.lines: list[Line] = [()] * (MAX_PLY + 2)

    def negamax(self, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Return the score of the position, searched to a depth.

        :raises OutOfTime: a limit is reached; the moves made so far are left on the position.
        """
        self._count(ply)
        position, features = self.position, self.features
        self.lines[ply] = ()
        in_check = position.in_check()
        if position.dead or position.repeats(ply):
            return 0
        if position.halfmove_clock >= _FIFTY_MOVES and not (in_check and self._is_mate()):
            return 0
        if in_check and features.check_extension:
            depth += 1
        if depth <= 0:
            return self.quiesce(alpha, beta, ply) if features.quiescence else position.evaluate()
        # The key does not contain the half-move clock: where it may draw within the search, the table cannot answer.
        known = features.table and position.halfmove_clock < _FIFTY_MOVES - 2 * depth
        hash_move = 0
        if known and (entry := self._table.get(position.key)) is not None:
            if entry[0] == depth and (score := _answer(entry[1], from_table(entry[2], ply), alpha, beta)) is not None:
                self.lines[ply] = (entry[3],) if entry[3] else ()
                return score
            hash_move = entry[3] if features.hash_move else 0
        best, best_move, floor = -INFINITY, 0, alpha
        for move in self.ordering.moves(position, hash_move, ply):
            if not position.make_legal(move, in_check):
                continue
            if features.alpha_beta:
                score = -self.negamax(depth - 1, -beta, -alpha, ply + 1)
            else:
                score = -self.negamax(depth - 1, -INFINITY, INFINITY, ply + 1)
            position.unmake()
            if score > best:
                best, best_move = score, move
                if score > alpha:
                    alpha = score
                    self.lines[ply] = (move, *self.lines[ply + 1])
                    if alpha >= beta and features.alpha_beta:
                        self.ordering.refuted(position, move, depth, ply)
                        break
        if best == -INFINITY:
            return mated(ply) if in_check else 0
        if known:
            bound = EXACT if floor < best < beta else AT_LEAST if best >= beta else AT_MOST
            # Where all moves fail low none is known to be best; the first one is merely the first in the order.
            self._table.put(position.key, (depth, bound, to_table(best, ply), best_move if best > floor else hash_move))
        return best

    def quiesce(self, alpha: int, beta: int, ply: int) -> int:
        """Return the score after all captures: it searches only captures and promotions to a queen, or no move."""
        position = self.position
        best = position.evaluate()
        if best >= beta or ply >= MAX_PLY:
            return best
        alpha = max(alpha, best)
        for move in captures_in_order(position):
            if not position.make_legal(move, True):
                continue
            self._count(ply + 1)
            score = 0 if position.dead else -self.quiesce(-beta, -alpha, ply + 1)
            position.unmake()
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    if alpha >= beta:
                        break
        return best

    def _count(self, ply: int) -> None:
        self.nodes += 1
        if ply > self.deepest:
            self.deepest = ply
        if not self.nodes & _LOOK_EVERY:
            self._watch.look()
        if self.nodes > self._watch.max_nodes:
            raise OutOfTime

    def _is_mate(self) -> bool:
        """Return whether the side to move, which is in check, has no move."""
        position = self.position
        for move in self.ordering.moves(position, 0, 0):
            if position.make_legal(move, True):
                position.unmake()
                return False
        return True


def _answer(bound: int, score: int, alpha: int, beta: int) -> int | None:
    """Return an entry's score if it answers a search between alpha and beta; else None."""
    if bound == EXACT or (bound == AT_LEAST and score >= beta) or (bound == AT_MOST and score <= alpha):
        return score
    return None
