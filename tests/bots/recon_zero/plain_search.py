"""The search in plain Python, one position after the other: what :mod:`gm_bots.recon_zero.search` must find, too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import chess
from chess import Move

from gm_bots.recon_zero.lockstep.forest import C_PUCT
from gm_bots.recon_zero.search import Found
from gm_recon import ReconBoard
from tests.bots.recon_zero.plain_evaluation import Evaluator


@dataclass(slots=True)
class Edge:
    """A move and its results. ``total`` is from the side of its mover."""

    move: Move | None
    prior: float
    visits: int = 0
    total: float = 0.0
    child: Node | None = None


@dataclass(slots=True)
class Node:
    """A position. Without edges it was not visited yet.

    :ivar attacked: whether the king of the side to move is attacked without its side's knowledge.
    :ivar won: whether the side to move wins for certain: True, False, or None if that is unknown.
    """

    board: ReconBoard
    edges: list[Edge] = field(default_factory=list)
    won: bool | None = None
    attacked: bool = False


class PlainSearch:
    """A search from positions that may be true. Simulations are added with :meth:`deepen`."""

    def __init__(
        self,
        positions: Sequence[ReconBoard],
        moves: Sequence[Move | None],
        evaluator: Evaluator,
        c_puct: float = C_PUCT,
        *,
        unseen: float = 0.0,
    ) -> None:
        """:param positions: at least one; the player is to move in each.
        :param moves: the moves that may be requested by the player's knowledge; None is a pass.
        :param unseen: the probability that an attack on a king is not seen by the king's side.
        """
        self._evaluator, self._c_puct, self._moves, self._unseen = evaluator, c_puct, moves, unseen
        self._roots = [Node(position) for position in positions]
        tried = _that_come_to_something(positions, moves)
        self._expand([(root, tried) for root in self._roots])
        for root in self._roots:
            taking = king_captures(root.board, moves)
            for edge in root.edges:
                if edge.move in taking:
                    edge.child = after(root.board, edge.move)
        self._first = _FirstMoves(self._roots, c_puct)

    def deepen(self, simulations: int) -> None:
        """Visit so many more positions in each tree."""
        for _ in range(simulations):
            self._simulate()

    def found(self) -> Found:
        """Return the results so far. A root in which a king can be captured puts all its visits on that."""
        visits: dict[Move | None, int] = dict.fromkeys(self._moves, 0)
        totals: dict[Move | None, float] = dict.fromkeys(self._moves, 0.0)
        for edge in (edge for root in self._roots for edge in root.edges):
            visits[edge.move] += edge.visits
            totals[edge.move] += edge.total
        values = {move: totals[move] / visits[move] if visits[move] else -1.0 for move in visits}
        return Found(visits, values, sum(totals.values()) / max(1, sum(visits.values())))

    def _simulate(self) -> None:
        """Visit one more position in each tree."""
        first = self._first.choose()
        paths = [self._descend(root, first) for root in self._roots]
        leaves = [leaf for _, leaf in paths if leaf.won is None]
        values = iter(self._expand([(leaf, different_moves(leaf.board)) for leaf in leaves]))
        for path, leaf in paths:
            self._back_up(path, next(values) if leaf.won is None else 1.0 if leaf.won else -1.0)

    def _back_up(self, path: list[Edge], value: float) -> None:
        """Add a leaf's value to the side to move there to all edges of its path."""
        for edge in reversed(path):
            if edge.child is not None and edge.child.attacked:
                value -= self._unseen * (1 + value)
            value = -value
            edge.visits += 1
            edge.total += value

    def _expand(self, nodes: Sequence[tuple[Node, Sequence[Move | None]]]) -> list[float]:
        """Give positions their moves; return the value of each to the side to move."""
        judged = self._evaluator([(node.board, moves) for node, moves in nodes]) if nodes else []
        for (node, moves), (priors, _) in zip(nodes, judged, strict=True):
            node.edges = [Edge(move, prior) for move, prior in zip(moves, priors, strict=True)]
        return [value for _, value in judged]

    def _descend(self, node: Node, first: int) -> tuple[list[Edge], Node]:
        """Descend to a position that is unvisited or decided; return the path and the position.

        :param first: the index of the first move.
        """
        path: list[Edge] = []
        while node.edges:
            edge = select(node.edges, self._c_puct) if path else node.edges[first]
            path.append(edge)
            if edge.child is None:
                edge.child = after(node.board, edge.move)
            node = edge.child
        return path, node


class _FirstMoves:
    """The choice of the first move, where it is the same in all positions."""

    def __init__(self, roots: Sequence[Node], c_puct: float) -> None:
        self._c_puct = c_puct
        self._everywhere = [list(edges) for edges in zip(*(root.edges for root in roots), strict=True)]
        # Moves that capture a king in some position are visited before all others: their priors do not show it.
        self._taking = [which for which, edges in enumerate(self._everywhere) if any(edge.child for edge in edges)]
        self._together = [_together(edges) for edges in self._everywhere]
        self._last: int | None = None

    def choose(self) -> int:
        """Return the next move to visit, as an index in the list of moves."""
        if self._last is not None:
            self._together[self._last] = _together(self._everywhere[self._last])
        self._last = self._taking.pop() if self._taking else self._best()
        return self._last

    def _best(self) -> int:
        best = select(self._together, self._c_puct)
        return next(which for which, edge in enumerate(self._together) if edge is best)


def _together(edges: Sequence[Edge]) -> Edge:
    """Return one move's edge over all positions. It wins or loses for certain only if it does so in all of them."""
    count, known = len(edges), {None if edge.child is None else edge.child.won for edge in edges}
    decided = Node(edges[0].child.board, won=known.pop()) if len(known) == 1 and edges[0].child is not None else None
    prior, total = sum(edge.prior for edge in edges) / count, sum(edge.total for edge in edges) / count
    return Edge(edges[0].move, prior, edges[0].visits, total, decided)


def select(edges: Sequence[Edge], c_puct: float) -> Edge:
    """Return the edge to visit: one that wins, else the best by PUCT of those that do not lose, if any.

    An unvisited move is assumed to have its position's value so far.
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
    """Return the position after a requested move.

    It is won by the side to move if it can capture a king, and lost if its own king was captured.
    """
    successor, capture, took_king = _moved(board, move)
    if took_king:
        return Node(successor, won=False)
    if king_captures(successor, successor.move_actions()):
        return Node(successor, won=True)
    return Node(successor, attacked=_is_attacked_unseen(successor.as_chess(), capture))


def _moved(board: ReconBoard, move: Move | None) -> tuple[ReconBoard, chess.Square | None, bool]:
    """Return the position after a requested move, the square of its capture, and whether it captured a king."""
    taken, capture = (None, None) if move is None else board.revise(move)
    took_king = capture is not None and board.has_king(capture)
    successor = board.copy()
    successor.push(taken, capture)
    return successor, capture, took_king


def _is_attacked_unseen(board: chess.Board, capture: chess.Square | None) -> bool:
    """Return whether the side to move's king is attacked from a square other than the opponent's last capture."""
    king = board.king(board.turn)
    if king is None:
        return False
    attackers = board.attackers_mask(not board.turn, king)
    return bool(attackers if capture is None else attackers & ~chess.BB_SQUARES[capture])


def _that_come_to_something(positions: Sequence[ReconBoard], moves: Sequence[Move | None]) -> list[Move | None]:
    """Return the moves without those that are a pass in every position, such as a pawn's captures of nothing."""
    return [move for move in moves if move is None or any(board.revise(move)[0] is not None for board in positions)]


def king_captures(board: ReconBoard, moves: Sequence[Move | None]) -> list[Move]:
    """Return the moves that capture a king."""
    others = chess.scan_forward(board.occupied_by(not board.turn))
    king = next((square for square in others if board.has_king(square)), None)
    aimed = [move for move in moves if move is not None and move.to_square == king]
    return [move for move in aimed if board.revise(move) == (move, king)]


def different_moves(board: ReconBoard) -> list[Move | None]:
    """Return the distinct moves of the side to move if it sees everything; a pass only where it has none."""
    moves: dict[Move | None, None] = {}
    for requested in board.move_actions():
        taken, _ = board.revise(requested)
        if taken is not None:
            moves[taken] = None
    return list(moves) or [None]
