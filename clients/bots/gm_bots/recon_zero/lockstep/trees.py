"""Kernels of the search: the trees of many games, deepened in step. :mod:`..search` explains what they do.

A node is a row of ``states`` and ``numbers`` as in :mod:`gm_env`, and its edges are consecutive. Edges whose children
were never visited have the child NONE.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gm_env.kernels.jit import lowest
from gm_env.kernels.layout import EN_PASSANT, KING, NONE, NUMBERS, OPPONENT, PASS, PLANES, STATE
from gm_env.kernels.rules import ONE, ZERO, Numbers, U, Words, list_moves, push, resolve

from .attacks import attackers_of, attackers_of_own
from .compiled import kernel

Indexes = NDArray[np.int64]
#: One number for each of some positions. They need not sum to 1.
Weights = NDArray[np.float64]

#: Values of ``won``: whether the side to move wins for certain.
UNKNOWN, LOST, WON = -1, 0, 1


class Trees(NamedTuple):
    """The arrays of a search. The first index of a node's is its number, of an edge's likewise.

    ``states`` and ``numbers`` are a node's position; ``first`` and ``edges`` its edges; ``won`` one of UNKNOWN, LOST
    and WON; ``attacked`` whether the king of the side to move is attacked without its side's knowledge.

    ``action`` is an edge's move by planes, as the side to move sees it; ``prior`` its probability, ``visits`` and
    ``total`` its results from the side of its mover, ``child`` the node that it leads to.

    ``roots`` (games, positions) are the nodes that are searched, NONE for none; ``depth`` and ``paths`` the edges of
    the simulation under way in each tree; ``leaves`` its last nodes. ``used`` counts the nodes and the edges.
    """

    states: Words
    numbers: Numbers
    first: Indexes
    edges: NDArray[np.int32]
    won: NDArray[np.int8]
    attacked: NDArray[np.bool_]
    action: NDArray[np.int16]
    prior: NDArray[np.float64]
    visits: NDArray[np.int32]
    total: NDArray[np.float64]
    child: NDArray[np.int32]
    roots: NDArray[np.int32]
    depth: NDArray[np.int32]
    paths: NDArray[np.int32]
    leaves: NDArray[np.int32]
    used: Indexes


def make(games: int, most: int, nodes: int, edges: int, depth: int) -> Trees:
    """Return the arrays of searches, with nothing in them.

    :param most: the most positions of a game.
    :param depth: the most edges from a root to a leaf.
    """
    count = games * most
    return Trees(
        states=np.empty((nodes, STATE), np.uint64),
        numbers=np.empty((nodes, NUMBERS), np.int32),
        first=np.empty(nodes, np.int64),
        edges=np.empty(nodes, np.int32),
        won=np.empty(nodes, np.int8),
        attacked=np.empty(nodes, np.bool_),
        action=np.empty(edges, np.int16),
        prior=np.empty(edges),
        visits=np.empty(edges, np.int32),
        total=np.empty(edges),
        child=np.empty(edges, np.int32),
        roots=np.full((games, most), -1, np.int32),
        depth=np.zeros(count, np.int32),
        paths=np.zeros((count, depth), np.int32),
        leaves=np.zeros(count, np.int32),
        used=np.zeros(2, np.int64),
    )


@kernel
def plant(trees: Trees, states: Words, numbers: Numbers, positions: Indexes, planes: Words, waiting: Indexes) -> int:
    """Make the roots, with the edges of the moves that may be requested.

    :param states: the positions of all games, one game's after the other's.
    :param numbers: likewise.
    :param positions: how many each game has.
    :param planes: (1, 73), for the moves of a position while they are listed.
    :param waiting: where to write the nodes that need an evaluation.
    :returns: how many these are.
    """
    trees.used[0] = trees.used[1] = 0
    asked, row = 0, 0
    for game in range(positions.size):
        begin, end = row, row + positions[game]
        for which in range(trees.roots.shape[1]):
            trees.roots[game, which] = NONE
        for which in range(positions[game]):
            root = _add_node(trees, states, numbers, row)
            trees.roots[game, which] = root
            _list_requests(trees, root, states, numbers, begin, end, planes)
            waiting[asked] = root
            asked, row = asked + 1, row + 1
    return asked


@kernel
def _add_node(trees: Trees, states: Words, numbers: Numbers, row: int) -> int:
    node = trees.used[0]
    trees.used[0] += 1
    for column in range(STATE):
        trees.states[node, column] = states[row, column]
    for column in range(NUMBERS):
        trees.numbers[node, column] = numbers[row, column]
    trees.first[node], trees.edges[node] = trees.used[1], 0
    trees.won[node], trees.attacked[node] = UNKNOWN, False
    return int(node)


@kernel
def _add_edge(trees: Trees, node: int, action: int) -> int:
    edge = trees.used[1]
    trees.used[1] += 1
    trees.edges[node] += 1
    trees.action[edge], trees.child[edge] = action, NONE
    trees.prior[edge], trees.visits[edge], trees.total[edge] = 0.0, 0, 0.0
    return int(edge)


@kernel
def _list_requests(
    trees: Trees, root: int, states: Words, numbers: Numbers, begin: int, end: int, planes: Words
) -> None:
    """Give a root the moves that may be requested, but those that are a pass in all positions from begin to end.

    A move that captures a king has its child at once: its prior does not show what it is worth.
    """
    list_moves(trees.states[root : root + 1], 0, planes)
    for plane in range(PLANES):
        sources = planes[0, plane]
        while sources:
            action = plane << 6 | int(lowest(sources))
            sources &= sources - ONE
            if _does_something(states, numbers, begin, end, action):
                edge = _add_edge(trees, root, action)
                if _takes_king(trees, root, action):
                    _follow(trees, root, edge)
    _add_edge(trees, root, PASS)


@kernel
def _does_something(states: Words, numbers: Numbers, begin: int, end: int, action: int) -> bool:
    for row in range(begin, end):
        taken, _, _ = resolve(states, row, numbers[row, EN_PASSANT], action)
        if taken != PASS:
            return True
    return False


@kernel
def _takes_king(trees: Trees, node: int, action: int) -> bool:
    """Return whether a move captures the king, and is not cut short before."""
    taken, _, capture = resolve(trees.states, node, trees.numbers[node, EN_PASSANT], action)
    return taken == action and capture != NONE and trees.states[node, OPPONENT + KING] >> U(capture) & ONE != ZERO


@kernel
def _follow(trees: Trees, node: int, edge: int) -> int:
    """Make the node that an edge leads to.

    It is won by the side to move if it can capture a king, and lost if its own king was captured.
    """
    child = _add_node(trees, trees.states, trees.numbers, node)
    trees.child[edge] = child
    action = int(trees.action[edge])
    taken, target, capture = PASS, 0, NONE
    if action != PASS:
        taken, target, capture = resolve(trees.states, node, trees.numbers[node, EN_PASSANT], action)
    if push(trees.states, trees.numbers, child, taken, target, capture):
        trees.won[child] = LOST
        return child
    king = trees.states[child, OPPONENT + KING]
    if king and attackers_of(trees.states, child, int(lowest(king))):
        trees.won[child] = WON
        return child
    king = trees.states[child, KING]
    if king:
        attackers = attackers_of_own(trees.states, child, int(lowest(king)))
        if capture != NONE:
            attackers &= ~(ONE << U(capture ^ 56))
        trees.attacked[child] = attackers != ZERO
    return child


@kernel
def _list_different(trees: Trees, node: int, planes: Words, taken_already: Words) -> None:
    """Give a node the different moves of the side to move if it sees everything; a pass only where it has none."""
    list_moves(trees.states[node : node + 1], 0, planes)
    for plane in range(PLANES):
        taken_already[plane] = ZERO
    passed = trees.numbers[node, EN_PASSANT]
    trees.first[node] = trees.used[1]
    for plane in range(PLANES):
        sources = planes[0, plane]
        while sources:
            bit = sources & (~sources + ONE)
            action = plane << 6 | int(lowest(sources))
            sources ^= bit
            taken, _, _ = resolve(trees.states, node, passed, action)
            if taken != PASS and not taken_already[taken >> 6] & bit:
                taken_already[taken >> 6] |= bit
                _add_edge(trees, node, taken)
    if not trees.edges[node]:
        _add_edge(trees, node, PASS)


@kernel
def descend(trees: Trees, c_puct: float, planes: Words, scratch: Words, waiting: Indexes) -> int:
    """Descend in each tree to a node that is unvisited or decided.

    :param scratch: (73,), overwritten.
    :param waiting: where to write the nodes that need an evaluation.
    :returns: how many these are.
    """
    asked = 0
    for game in range(trees.roots.shape[0]):
        if trees.roots[game, 0] == NONE:
            continue
        first = _choose_first(trees, game, c_puct)
        for which in range(trees.roots.shape[1]):
            root = trees.roots[game, which]
            if root == NONE:
                break
            tree = game * trees.roots.shape[1] + which
            leaf = _descend_from(trees, root, tree, first, c_puct)
            trees.leaves[tree] = leaf
            if trees.won[leaf] == UNKNOWN:
                _list_different(trees, leaf, planes, scratch)
                waiting[asked] = leaf
                asked += 1
    return asked


@kernel
def _descend_from(trees: Trees, node: int, tree: int, first: int, c_puct: float) -> int:
    depth = 0
    while trees.edges[node]:
        edge = _select(trees, node, c_puct) if depth else trees.first[node] + first
        trees.paths[tree, depth] = edge
        depth += 1
        child = trees.child[edge]
        node = _follow(trees, node, edge) if child == NONE else child
    trees.depth[tree] = depth
    return node


@kernel
def _select(trees: Trees, node: int, c_puct: float) -> int:
    """Return the edge to visit: one that wins, else the best by PUCT of those that do not lose, if any.

    An unvisited move is assumed to have its position's value so far.
    """
    begin, end = trees.first[node], trees.first[node] + trees.edges[node]
    visits, total = 0, 0.0
    for edge in range(begin, end):
        visits += trees.visits[edge]
        total += trees.total[edge]
    expected = total / visits if visits else 0.0
    weight = c_puct * math.sqrt(visits + 1)
    best, best_rank, best_urgency = begin, -1, 0.0
    for edge in range(begin, end):
        child = trees.child[edge]
        won = UNKNOWN if child == NONE else trees.won[child]
        rank = 2 if won == LOST else 0 if won == WON else 1
        seen = trees.visits[edge]
        worth = trees.total[edge] / seen if seen else expected
        urgency = worth + weight * trees.prior[edge] / (1 + seen)
        if rank > best_rank or (rank == best_rank and urgency > best_urgency):
            best, best_rank, best_urgency = edge, rank, urgency
    return int(best)


@kernel
def _choose_first(trees: Trees, game: int, c_puct: float) -> int:
    """Return the first move of a simulation, the same in all trees of a game, as an index of a root's edges.

    A move wins or loses for certain only if it does so in all positions. Moves that capture a king in one of them are
    visited before all others.
    """
    root = trees.roots[game, 0]
    trees_of = 0
    while trees_of < trees.roots.shape[1] and trees.roots[game, trees_of] != NONE:
        trees_of += 1
    visits, total = 0, 0.0
    for which in range(trees.edges[root]):
        visits += trees.visits[trees.first[root] + which]
        total += _total(trees, game, trees_of, which) / trees_of
    expected = total / visits if visits else 0.0
    weight = c_puct * math.sqrt(visits + 1)
    best, best_rank, best_urgency = 0, -1, 0.0
    for which in range(trees.edges[root]):
        seen = trees.visits[trees.first[root] + which]
        rank = _rank(trees, game, trees_of, which, seen)
        prior = 0.0
        for each in range(trees_of):
            prior += trees.prior[trees.first[trees.roots[game, each]] + which]
        worth = _total(trees, game, trees_of, which) / trees_of / seen if seen else expected
        urgency = worth + weight * prior / trees_of / (1 + seen)
        if rank > best_rank or (rank == best_rank and urgency > best_urgency):
            best, best_rank, best_urgency = which, rank, urgency
    return best


@kernel
def _total(trees: Trees, game: int, trees_of: int, which: int) -> float:
    total = 0.0
    for each in range(trees_of):
        total += trees.total[trees.first[trees.roots[game, each]] + which]
    return total


@kernel
def _rank(trees: Trees, game: int, trees_of: int, which: int, seen: int) -> int:
    """Return the class of a first move: 3 to be tried first, 2 wins in all positions, 0 loses in all, 1 the rest."""
    known, some_child = -2, False
    for each in range(trees_of):
        child = trees.child[trees.first[trees.roots[game, each]] + which]
        won = UNKNOWN if child == NONE else int(trees.won[child])
        some_child = some_child or child != NONE
        known = won if known == -2 or known == won else UNKNOWN
    if some_child and not seen:
        return 3
    return 2 if known == LOST else 0 if known == WON else 1


@kernel
def back_up(trees: Trees, values: NDArray[np.float64], unseen: NDArray[np.float64]) -> None:
    """Add the values of the leaves to all edges of their paths.

    :param values: of the nodes that needed an evaluation, in the order of :func:`descend`, to the side to move there.
    :param unseen: of each game, the probability that an attack on a king is not seen.
    """
    asked = 0
    for game in range(trees.roots.shape[0]):
        for which in range(trees.roots.shape[1]):
            if trees.roots[game, which] == NONE:
                break
            tree = game * trees.roots.shape[1] + which
            won = trees.won[trees.leaves[tree]]
            value = 1.0 if won == WON else -1.0
            if won == UNKNOWN:
                value = values[asked]
                asked += 1
            for step in range(trees.depth[tree] - 1, -1, -1):
                edge = trees.paths[tree, step]
                if trees.attacked[trees.child[edge]]:
                    value -= unseen[game] * (1 + value)
                value = -value
                trees.visits[edge] += 1
                trees.total[edge] += value


@kernel
def add_up(trees: Trees, visits: NDArray[np.int32], totals: NDArray[np.float64]) -> None:
    """Add the visits and the totals of each game's first moves, over its positions.

    :param visits: (games, 4673), zeros.
    :param totals: likewise.
    """
    for game in range(trees.roots.shape[0]):
        for which in range(trees.roots.shape[1]):
            root = trees.roots[game, which]
            if root == NONE:
                break
            for edge in range(trees.first[root], trees.first[root] + trees.edges[root]):
                visits[game, trees.action[edge]] += trees.visits[edge]
                totals[game, trees.action[edge]] += trees.total[edge]
