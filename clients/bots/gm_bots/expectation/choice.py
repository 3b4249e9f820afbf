"""The value of a move over several positions, and of a sense by the best move after it.

A move's value is mostly the mean of its expected results, with a part of the worst.

A sense shows which of the groups of positions that look alike in its window holds the truth. The player then makes the
best move of that group. So a sense is worth the mean, over the groups, of the best move's expected result; one that
changes no decision is worth nothing. What it teaches for later turns counts a little as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chess import Bitboard, Board, Square

from gm_recon.possible import WINDOWS

from .results import Results

#: The share of the positions, by their weights, that counts as the worst.
WORST = 0.1


def values_of(rows: Sequence[Results], weights: Sequence[float], caution: float) -> list[float]:
    """Return the value of each move over the positions, of which there is at least one.

    :param caution: the share of the worst positions' mean in it; the rest is the mean of all.
    """
    return [
        (1 - caution) * _mean(column, weights) + caution * _mean_of_worst(column, weights)
        for column in zip(*rows, strict=True)
    ]


def best_sense(
    boards: Sequence[Board],
    rows: Sequence[Results],
    weights: Sequence[float],
    bits: Mapping[Square, float],
    *,
    information: float,
    prior: float,
) -> Square:
    """Return the square to sense; the first of several.

    :param boards: possible positions; they differ in the pieces of the side that is not to move.
    :param rows: the expected result of each move in each of them.
    :param bits: the squares allowed, with the expected information of a sense there, in bits.
    :param information: the expected result that a bit is worth.
    :param prior: see :func:`expected_result_after`.
    """
    weighted = [[weight * result for result in row] for row, weight in zip(rows, weights, strict=True)]
    total = sum(weights)

    def worth(square: Square) -> float:
        groups = groups_of(boards, WINDOWS[square])
        return expected_result_after(groups, weighted, weights, prior) / total + information * bits[square]

    return max(bits, key=worth)


def expected_result_after(
    groups: Sequence[Sequence[int]], rows: Sequence[Results], weights: Sequence[float], prior: float
) -> float:
    """Return the sum of the results of the best move of each group.

    :param groups: the positions of each group, by their places in ``rows``.
    :param rows: the expected result of each move in each position, times the position's weight.
    :param weights: these weights.
    :param prior: how many average positions, as likely as those of a group, are added to it for the choice of its move.
        If only some of the positions are examined, most groups have one: without this, each sense would seem to show
        the position.
    """
    average = [sum(column) / sum(weights) for column in zip(*rows, strict=True)]
    total = 0.0
    for group in groups:
        sums = rows[group[0]] if len(group) == 1 else list(map(sum, zip(*(rows[each] for each in group), strict=True)))
        if prior:
            added = prior * sum(weights[each] for each in group) / len(group)
            judged = [own + added * usual for own, usual in zip(sums, average, strict=True)]
            total += sums[judged.index(max(judged))]
        else:
            total += max(sums)
    return total


def groups_of(boards: Sequence[Board], shown: Bitboard) -> list[list[int]]:
    """Return the places of the boards that look alike on some squares, group by group."""
    groups: dict[tuple[Bitboard, ...], list[int]] = {}
    for place, board in enumerate(boards):
        seen = shown & board.occupied_co[not board.turn]
        kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
        look = tuple(seen & kind for kind in kinds) if seen else ()
        groups.setdefault(look, []).append(place)
    return list(groups.values())


def _mean(results: Sequence[float], weights: Sequence[float]) -> float:
    return sum(result * weight for result, weight in zip(results, weights, strict=True)) / sum(weights)


def _mean_of_worst(results: Sequence[float], weights: Sequence[float]) -> float:
    """Return the mean of the worst results that have a tenth of the weight."""
    room = WORST * sum(weights)
    total = used = 0.0
    for result, weight in sorted(zip(results, weights, strict=True)):
        taken = min(weight, room)
        total += taken * result
        used += taken
        room -= taken
        if room <= 0:
            break
    return total / used
