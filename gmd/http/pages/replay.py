"""Replays of games: the position after any ply, the moves in SAN, the pieces captured. Long work is done in steps."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import chess

from gm_protocol.endings import Cause
from gmd.games.notation import read_pgn
from gmd.games.variants import VARIANTS

#: Plies replayed between two yields: some hundred microseconds.
PLIES_A_STEP = 16
#: Pieces by value, the most valuable first.
_BY_VALUE = "qrbnp"


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a game.

    :ivar last_move: the move that led to it, in UCI; None at the start and after a pass.
    :ivar check: the square of a king in check, if checks count in the variant.
    """

    fen: str
    last_move: str | None = None
    check: chess.Square | None = None


def position_steps(variant: str, start_fen: str, moves: list[str], ply: int) -> Generator[None, None, Position]:
    """Return the position of a game of open information after a number of plies, in steps.

    :param moves: the moves of the game, in UCI, at least as many as the plies.
    """
    board = VARIANTS[variant].board(start_fen)
    for number, uci in enumerate(moves[:ply], 1):
        board.push(chess.Move.from_uci(uci))
        if number % PLIES_A_STEP == 0:
            board.clear_stack()
            yield
    check = board.king(board.turn) if VARIANTS[variant].victory is Cause.CHECKMATE and board.is_check() else None
    return Position(board.fen(shredder=board.chess960), moves[ply - 1] if ply else None, check)


def san_steps(pgn: str, plies: int) -> Generator[None, None, list[str]]:
    """Return the moves of a game in SAN as its PGN has them, in steps."""
    return (yield from read_pgn(pgn, plies)).moves


def placement_of(fen: str) -> str:
    """Return the first field of a FEN, without crazyhouse's pockets."""
    return fen.partition(" ")[0].partition("[")[0]


def begins(start_fen: str) -> chess.Color:
    """Return the side that moves first."""
    return start_fen.split(" ")[1] != "b"


def first_number(start_fen: str) -> int:
    """Return the number of the first move."""
    fields = start_fen.split(" ")
    return int(fields[-1]) if fields[-1].isdecimal() else 1


def captured(start_fen: str, fen: str, side: chess.Color) -> str:
    """Return the pieces that a side has lost since the start, most valuable first, as in ``qnpp``.

    A promoted piece that was captured counts as the pawn that it was.
    """
    start, now = (placement_of(each) for each in (start_fen, fen))
    lost, promoted = {}, 0
    for piece in _BY_VALUE[:-1]:
        gone = start.count(_letter(piece, side)) - now.count(_letter(piece, side))
        lost[piece] = max(0, gone)
        promoted += max(0, -gone)
    pawn = _letter("p", side)
    lost["p"] = max(0, start.count(pawn) - now.count(pawn) - promoted)
    return "".join(piece * lost[piece] for piece in _BY_VALUE)


def _letter(piece: str, side: chess.Color) -> str:
    return piece.upper() if side else piece
