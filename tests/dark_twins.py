"""Two games of Dark chess that look the same to one player but differ.

python-chess's moves alone decide here what a player sees. The player's own moves are the same in both games; its
opponent's differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import chess
from chess import Board, Color, Move

#: How many pairs of moves are tried in search of one that looks the same in both games.
TRIES = 60

STARTS = [
    chess.STARTING_FEN,
    "r3k2r/1p1p1p1p/8/P1P1P1P1/p1p1p1p1/8/1P1P1P1P/R3K2R w KQkq - 0 1",
    "r3k2r/8/3n4/8/8/4N3/8/R3K2R w KQkq - 0 1",
    "4k3/1pp2pp1/8/8/8/8/1PP2PP1/4K3 b - - 30 40",
]


class NoCheck(Board):
    """A board on which castling ignores check. Its pseudo-legal moves are those of Dark chess."""

    def _attacked_for_king(self, path: chess.Bitboard, occupied: chess.Bitboard) -> bool:
        return False


def observed(board: Board, color: Color) -> tuple[object, ...]:
    """Return all that a player may know of a position."""
    own = board.copy(stack=False)
    own.turn = color
    if board.turn != color:
        own.ep_square = None
    moves = list(own.pseudo_legal_moves)
    seen = chess.SquareSet(own.occupied_co[color])
    for move in moves:
        seen.add(move.to_square)
        if own.is_en_passant(move):
            seen.add(move.to_square + (-8 if color else 8))
    rights = own.castling_rights & (chess.BB_RANK_1 if color else chess.BB_RANK_8)
    return {square: own.piece_at(square) for square in seen}, rights, set(moves) if board.turn == color else None


@dataclass
class DarkTwins:
    """A pair of games, given by their moves; the observer's moves are the same in both."""

    fen: str
    observer: Color
    moves: list[tuple[Move, Move]] = field(default_factory=list)
    boards: tuple[Board, Board] = field(default_factory=lambda: (NoCheck(), NoCheck()))
    #: The positions that have occurred on the boards: a repeated position might end a game.
    stood: set[str] = field(default_factory=set)

    @property
    def differ(self) -> bool:
        """Whether the true positions are different in the end."""
        return self.boards[0].board_fen() != self.boards[1].board_fen()


def draw_dark_twins(rng: random.Random, starts: list[str] = STARTS) -> DarkTwins:
    """Draw a pair of games, a few plies long, both still in progress at the end."""
    fen = rng.choice(starts)
    twins = DarkTwins(fen, rng.choice(chess.COLORS), boards=(NoCheck(fen), NoCheck(fen)))
    for _ in range(rng.randint(3, 16)):
        found = next((pair for pair in _candidates(twins, rng) if _looks_the_same(twins, pair)), None)
        if found is None:
            break
        twins.moves.append(found)
        for board, move in zip(twins.boards, found, strict=True):
            board.push(move)
            twins.stood.add(board.epd())
    return twins


def _candidates(twins: DarkTwins, rng: random.Random) -> Iterator[tuple[Move, Move]]:
    ones, others = (sorted(board.pseudo_legal_moves, key=Move.uci) for board in twins.boards)
    for _ in range(TRIES):
        one = rng.choice(ones)
        yield one, one if twins.boards[0].turn == twins.observer else rng.choice(others)


def _looks_the_same(twins: DarkTwins, pair: tuple[Move, Move]) -> bool:
    seen: list[Any] = []
    for board, move in zip(twins.boards, pair, strict=True):
        after = board.copy(stack=False)
        after.push(move)
        if after.king(True) is None or after.king(False) is None or after.epd() in twins.stood:
            return False
        if not any(after.pseudo_legal_moves):
            return False
        seen.append(observed(after, twins.observer))
    return bool(seen[0] == seen[1])
