"""PUCT over several positions at once, any of which may be the true one.

Each position has a tree of its own, in which everything is seen by both. The rules are those of blind chess, unless
those of chess are asked for: there is no check, a move may leave the own king where it is taken, and to take the other
is to win. The trees are deepened in
step, so that the network is asked of a position of each at once.

The player does not know which position is the true one, so it cannot choose another move in each. With ``together`` it
does not: one move is looked at in all of them at once, and is worth what it comes to on average. Without it, each tree
is searched as if its position were known to be true, and the looks are added up: a vote, in which a move that takes the
king in one position has all the voices of that, however badly it does in all others.

Nobody is told of an attack. So whoever is attacked in a tree, though it sees all there, loses its king with the
probability ``unseen``, and goes on with the rest of it. To attack a king is worth something then, wherever it can be
answered, and so is to leave none where it may be attacked unseen. A capture is told, with its square: who attacks from
there is seen.

A position in which a king can be taken is won by whoever is to move there, whatever an evaluator says. So a move that
leaves the king to be taken is refuted there when it is first looked at; if it is everywhere, it is looked at no more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import chess
from chess import Move

from gm_recon import ReconBoard

from .evaluation import Evaluator

#: How much a move's probability counts beside what was seen of it. Other bots have 1.5, the notebook too; but in blind
#: chess most positions are worth little to either side (see :data:`.evaluation.SCALE`), and with so much nothing seen
#: would count.
C_PUCT = 0.5


@dataclass(slots=True)
class Edge:
    """A move, and what was seen of it. ``total`` is to whoever makes it."""

    move: Move | None
    prior: float
    visits: int = 0
    total: float = 0.0
    child: Node | None = None


@dataclass(slots=True)
class Node:
    """A position. Without edges it was not looked at yet.

    :ivar attacked: whether the king of the side to move is, and nobody has told it.
    :ivar won: whether the side to move wins for certain: True, False, or None if that is not known.
    """

    board: ReconBoard
    edges: list[Edge] = field(default_factory=list)
    won: bool | None = None
    attacked: bool = False


@dataclass(frozen=True)
class Found:
    """What a search says of the moves that may be asked for.

    :ivar visits: how often each was looked at, in all trees; they are what the network is to learn.
    :ivar values: what each is worth to the player, from -1 to 1, or the worst where it was never looked at.
    :ivar value: what the position is worth, over all that was looked at.
    """

    visits: dict[Move | None, int]
    values: dict[Move | None, float]
    value: float

    def best(self) -> Move | None:
        """The move looked at most often; of several the one worth most."""
        return max(self.visits, key=lambda move: (self.visits[move], self.values[move]))


class Search:
    """A search from positions that may be true. Simulations are added with :meth:`deepen`."""

    def __init__(
        self,
        positions: Sequence[ReconBoard],
        moves: Sequence[Move | None],
        evaluator: Evaluator,
        c_puct: float = C_PUCT,
        *,
        together: bool = True,
        unseen: float = 0.0,
        check: bool = False,
    ) -> None:
        """:param positions: one at least; the player to move in each.
        :param moves: what may be asked for, by what the player knows; None to pass.
        :param together: whether one move is looked at in all positions at once.
        :param unseen: how likely it is that an attack on a king is not seen by whose king it is.
        :param check: whether both play by the rules of chess behind the first move, and no more leave their kings to be
            taken.
        """
        self._evaluator, self._c_puct, self._moves, self._unseen = evaluator, c_puct, moves, unseen
        self._after, self._moves_in = (after_in_chess, lawful_moves) if check else (after, different_moves)
        self._roots = [Node(position) for position in positions]
        tried = _that_come_to_something(positions, moves)
        self._expand(
            [(root, tried if together else _that_come_to_something([root.board], moves)) for root in self._roots]
        )
        for root in self._roots:
            taking = king_captures(root.board, moves)
            for edge in root.edges:
                if edge.move in taking:
                    edge.child = self._after(root.board, edge.move)
        self._first = _FirstMoves(self._roots, c_puct) if together else None

    def deepen(self, simulations: int) -> None:
        """Look at so many positions more in each tree."""
        for _ in range(simulations):
            self._simulate()

    def found(self) -> Found:
        """What was found so far. A root in which a king can be taken says so with all its looks."""
        visits: dict[Move | None, int] = dict.fromkeys(self._moves, 0)
        totals: dict[Move | None, float] = dict.fromkeys(self._moves, 0.0)
        for edge in (edge for root in self._roots for edge in root.edges):
            visits[edge.move] += edge.visits
            totals[edge.move] += edge.total
        values = {move: totals[move] / visits[move] if visits[move] else -1.0 for move in visits}
        return Found(visits, values, sum(totals.values()) / max(1, sum(visits.values())))

    def _simulate(self) -> None:
        """Look at one position more in each tree."""
        first = None if self._first is None else self._first.choose()
        paths = [self._descend(root, first) for root in self._roots]
        leaves = [leaf for _, leaf in paths if leaf.won is None]
        values = iter(self._expand([(leaf, self._moves_in(leaf.board)) for leaf in leaves]))
        for path, leaf in paths:
            self._back_up(path, next(values) if leaf.won is None else 1.0 if leaf.won else -1.0)

    def _back_up(self, path: list[Edge], value: float) -> None:
        """Tell all on a way what a position at its end is worth to the side to move there."""
        for edge in reversed(path):
            if edge.child is not None and edge.child.attacked:
                value -= self._unseen * (1 + value)
            value = -value
            edge.visits += 1
            edge.total += value

    def _expand(self, nodes: Sequence[tuple[Node, Sequence[Move | None]]]) -> list[float]:
        """Give positions their moves; what each is worth to the side to move."""
        judged = self._evaluator([(node.board, moves) for node, moves in nodes]) if nodes else []
        for (node, moves), (priors, _) in zip(nodes, judged, strict=True):
            node.edges = [Edge(move, prior) for move, prior in zip(moves, priors, strict=True)]
        return [value for _, value in judged]

    def _descend(self, node: Node, first: int | None) -> tuple[list[Edge], Node]:
        """Go down to a position that was not looked at yet, or is decided; the way there.

        :param first: which move to begin with, if that is decided.
        """
        path: list[Edge] = []
        while node.edges:
            edge = select(node.edges, self._c_puct) if first is None else node.edges[first]
            first = None
            path.append(edge)
            if edge.child is None:
                edge.child = self._after(node.board, edge.move)
            node = edge.child
        return path, node


class _FirstMoves:
    """What is looked at first, where it is the same in all positions."""

    def __init__(self, roots: Sequence[Node], c_puct: float) -> None:
        self._c_puct = c_puct
        self._everywhere = [list(edges) for edges in zip(*(root.edges for root in roots), strict=True)]
        # What takes a king in one of them is looked at before all else: priors say nothing of it.
        self._taking = [which for which, edges in enumerate(self._everywhere) if any(edge.child for edge in edges)]
        self._together = [_together(edges) for edges in self._everywhere]
        self._last: int | None = None

    def choose(self) -> int:
        """The move to look at next, by its place in the list of moves."""
        if self._last is not None:
            self._together[self._last] = _together(self._everywhere[self._last])
        self._last = self._taking.pop() if self._taking else self._best()
        return self._last

    def _best(self) -> int:
        best = select(self._together, self._c_puct)
        return next(which for which, edge in enumerate(self._together) if edge is best)


def _together(edges: Sequence[Edge]) -> Edge:
    """One move in all positions. It wins or loses for certain only if it does in all of them."""
    count, known = len(edges), {None if edge.child is None else edge.child.won for edge in edges}
    decided = Node(edges[0].child.board, won=known.pop()) if len(known) == 1 and edges[0].child is not None else None
    prior, total = sum(edge.prior for edge in edges) / count, sum(edge.total for edge in edges) / count
    return Edge(edges[0].move, prior, edges[0].visits, total, decided)


def select(edges: Sequence[Edge], c_puct: float) -> Edge:
    """The edge to look at: one that wins, or else the best by PUCT of those that do not lose, if any.

    A move not looked at yet is taken to be worth what its position has been so far.
    """
    visits = sum(edge.visits for edge in edges)
    expected = sum(edge.total for edge in edges) / visits if visits else 0.0
    weight = c_puct * math.sqrt(visits + 1)

    def urgency(edge: Edge) -> tuple[bool, bool, float]:
        won = edge.child.won if edge.child is not None else None
        worth = edge.total / edge.visits if edge.visits else expected
        return won is False, won is not True, worth + weight * edge.prior / (1 + edge.visits)

    return max(edges, key=urgency)


def after(board: ReconBoard, move: Move | None) -> Node:
    """The position that comes of a move asked for.

    It is won by the side to move if that can take a king, and lost if its own was taken.
    """
    successor, capture, took_king = _moved(board, move)
    if took_king:
        return Node(successor, won=False)
    if king_captures(successor, successor.move_actions()):
        return Node(successor, won=True)
    return Node(successor, attacked=_is_attacked_unseen(successor.as_chess(), capture))


def after_in_chess(board: ReconBoard, move: Move | None) -> Node:
    """The same by the rules of chess: it is lost by mate, too."""
    node = after(board, move)
    return Node(node.board, won=False) if node.won is None and node.board.as_chess().is_checkmate() else node


def _moved(board: ReconBoard, move: Move | None) -> tuple[ReconBoard, chess.Square | None, bool]:
    """The position that comes of a move asked for, where it captured, and whether that was a king."""
    taken, capture = (None, None) if move is None else board.revise(move)
    took_king = capture is not None and board.has_king(capture)
    successor = board.copy()
    successor.push(taken, capture)
    return successor, capture, took_king


def _is_attacked_unseen(board: chess.Board, capture: chess.Square | None) -> bool:
    """Whether the king of the side to move is attacked from elsewhere than where the opponent has just captured."""
    king = board.king(board.turn)
    if king is None:
        return False
    attackers = board.attackers_mask(not board.turn, king)
    return bool(attackers if capture is None else attackers & ~chess.BB_SQUARES[capture])


def _that_come_to_something(positions: Sequence[ReconBoard], moves: Sequence[Move | None]) -> list[Move | None]:
    """Without the moves that are a pass in all of the positions, such as a pawn's captures where nothing stands."""
    return [move for move in moves if move is None or any(board.revise(move)[0] is not None for board in positions)]


def king_captures(board: ReconBoard, moves: Sequence[Move | None]) -> list[Move]:
    """Those of the moves that take a king."""
    others = chess.scan_forward(board.occupied_by(not board.turn))
    king = next((square for square in others if board.has_king(square)), None)
    aimed = [move for move in moves if move is not None and move.to_square == king]
    return [move for move in aimed if board.revise(move) == (move, king)]


def different_moves(board: ReconBoard) -> list[Move | None]:
    """What the side to move can do when it sees everything: each move once, and a pass only where it has none."""
    moves: dict[Move | None, None] = {}
    for requested in board.move_actions():
        taken, _ = board.revise(requested)
        if taken is not None:
            moves[taken] = None
    return list(moves) or [None]


def lawful_moves(board: ReconBoard) -> list[Move | None]:
    """What the side to move can do by the rules of chess; a pass where that is nothing."""
    return list(board.as_chess().legal_moves) or [None]
