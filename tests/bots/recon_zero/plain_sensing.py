"""What a sense is worth, computed from the senses of boards one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from chess import Board, Square

from gm_client.rbc import simulate_sense


def plain_worth(boards: Sequence[Board], weights: Iterable[float], square: Square, alarm: float = 0) -> float:
    """Return the bits that a sense is expected to give, and ``alarm`` times those about an attack on the king."""
    shares = list(weights)
    seen = [tuple(_shown(board, square)) for board in boards]
    attacked = [board.is_attacked_by(not board.turn, board.king(board.turn) or 0) for board in boards]
    of_attacks = (
        _entropy(attacked, shares) + _entropy(seen, shares) - _entropy(zip(seen, attacked, strict=True), shares)
    )
    return _entropy(seen, shares) + alarm * of_attacks


def _shown(board: Board, square: Square) -> Iterable[Hashable]:
    for _, piece in simulate_sense(board, square):
        yield None if piece is None or piece.color == board.turn else piece.piece_type


def _entropy(results: Iterable[Hashable], weights: Sequence[float]) -> float:
    sums, total = Counter[Hashable](), sum(weights)
    for result, weight in zip(results, weights, strict=True):
        sums[result] += weight  # type: ignore[assignment]
    return sum(-each / total * math.log2(each / total) for each in sums.values() if each)
