"""The order of moves in a search: the sooner a good move is tried, the fewer others need a search."""

from __future__ import annotations

from collections.abc import Iterator

from .features import Features
from .generation import lesser_promotions, noisy_moves, pseudo_legal_moves, quiet_moves
from .position import Position
from .scores import MAX_PLY

#: The ranks of pieces by value. An empty square is 0: en passant and promotions come last.
_RANKS = (0, *range(1, 7), *range(1, 7))


def captures_in_order(position: Position) -> list[int]:
    """Return captures and promotions to a queen: the most valuable victim first, then the least valuable attacker."""
    moves = noisy_moves(position)
    if len(moves) > 1:
        squares, ranks = position.squares, _RANKS
        moves.sort(key=lambda move: ranks[squares[move & 63]] - 8 * ranks[squares[move >> 6 & 63]] - (move >> 12 << 3))
    return moves


class Ordering:
    """The statistics of a search about quiet moves.

    :ivar killers: by distance from the root, the last two moves that refuted something there.
    :ivar history: by colour and move, how much it has refuted: the sum of the squared depths.
    """

    def __init__(self, features: Features) -> None:
        self._features = features
        self.killers: list[tuple[int, int]] = [(0, 0)] * (MAX_PLY + 1)
        self.history = ([0] * 4096, [0] * 4096)

    def moves(self, position: Position, hash_move: int, ply: int) -> Iterator[int]:
        """Yield all :func:`generation.pseudo_legal_moves`, the most promising first. Each kind is made when needed.

        :param hash_move: the best move of the position's previous search; 0 if there was none.
        """
        if hash_move:
            yield hash_move
        if not self._features.captures_first:
            yield from [move for move in pseudo_legal_moves(position) if move != hash_move]
            return
        for move in captures_in_order(position):
            if move != hash_move:
                yield move
        quiets = quiet_moves(position)
        killers = self.killers[ply]
        for move in killers:
            if move and move != hash_move and move in quiets:
                yield move
        quiets.sort(key=self.history[position.turn].__getitem__, reverse=True)
        for move in quiets:
            if move != hash_move and move not in killers:
                yield move
        for move in lesser_promotions(position):
            if move != hash_move:
                yield move

    def refuted(self, position: Position, move: int, depth: int, ply: int) -> None:
        """Record a move that was too good: the opponent will avoid the position."""
        if move >> 12 or position.squares[move >> 6 & 63] or move >> 6 & 63 == position.ep_square:
            return
        if self._features.killers and self.killers[ply][0] != move:
            self.killers[ply] = (move, self.killers[ply][0])
        if self._features.history:
            self.history[position.turn][move] += depth * depth
