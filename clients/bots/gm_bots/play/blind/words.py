"""Sentences for the observations of a player of blind chess."""

from __future__ import annotations

from collections.abc import Iterable

import chess
from chess import Board, Color, Move, Piece, Square

from gm_protocol.endings import Cause, read_ending
from gm_recon import Cell

from .memory import blocked_at

#: The order in which pieces are named.
_ORDER = (chess.KING, chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.PAWN)

#: Why a game ended, where this is not said as in a table of results.
_REASONS = {
    Cause.KING_CAPTURE: "the king is captured",
    Cause.RESIGNATION: "{loser} resigned",
    Cause.TIMEOUT: "{loser}'s time ran out",
    Cause.FORFEIT: "{loser} forfeited",
}


def of_sense(square: Square | None, cells: Iterable[Cell], color: Color) -> str:
    """Return what a sense has shown of the opponent.

    :param color: the player's colour.
    """
    if square is None:
        return "You sense nothing."
    theirs = [(at, piece) for at, piece in cells if piece is not None and piece.color != color]
    return f"You sense {_name(square)}: {_listed(theirs) or 'nothing of your opponent'}."


def _listed(found: list[tuple[Square, Piece]]) -> str:
    """Return pieces with their squares: ``king e8, pawns d7 e7 f7``."""
    parts = []
    for piece_type in _ORDER:
        squares = sorted(at for at, piece in found if piece.piece_type == piece_type)
        if squares:
            kind = chess.piece_name(piece_type) + ("s" if len(squares) > 1 else "")
            parts.append(f"{kind} {' '.join(map(_name, squares))}")
    return ", ".join(parts)


def of_move(own: Board, requested: Move | None, taken: Move | None, capture: Square | None) -> str:
    """Return the result of the move that was requested.

    :param own: the player's pieces before it.
    """
    if requested is None:
        return "You pass."
    piece_type = own.piece_type_at(requested.from_square) or chess.PAWN
    captured = "" if capture is None else f" and captures on {_name(capture)}"
    who = chess.piece_name(piece_type)
    if taken is None:
        return f"You ask for {requested.uci()}: nothing moves, {_why(own, requested, piece_type)}."
    if own.is_castling(taken):
        return f"You castle: {taken.uci()}."
    if taken.to_square == requested.to_square:
        promoted = f" and becomes a {chess.piece_name(taken.promotion)}" if taken.promotion else ""
        return f"Your {who} moves {taken.uci()[:4]}{captured}{promoted}."
    blocked = blocked_at(requested, taken, pawn=piece_type == chess.PAWN)
    why = f": something stands on {_name(blocked)}" if blocked is not None else captured
    return f"You ask for {requested.uci()}: your {who} gets as far as {_name(taken.to_square)}{why}."


def _why(own: Board, requested: Move, piece_type: chess.PieceType) -> str:
    """Return why a move was refused that the player's own pieces allowed."""
    if own.is_castling(requested):
        return "something stands between king and rook"
    blocked = blocked_at(requested, None, pawn=piece_type == chess.PAWN)
    if blocked is not None:
        return f"something stands on {_name(blocked)}"
    return f"there is nothing to capture on {_name(requested.to_square)}"


def of_opponent(own: Board, capture: Square | None) -> str:
    """Return what the opponent's turn has captured.

    :param own: the player's pieces before it.
    """
    if capture is None:
        return "Your opponent captures nothing."
    lost = own.piece_type_at(capture)
    return f"Your opponent captures your {chess.piece_name(lost or chess.PAWN)} on {_name(capture)}."


def of_end(result: str, termination: str) -> str:
    """Return the result: ``White wins: 1-0, the king is captured``."""
    ending = read_ending(termination, Cause.KING_CAPTURE)
    verdict = {"1-0": "White wins", "0-1": "Black wins"}.get(result, "Draw")
    reason = termination if ending is None else ending.said(_REASONS.get(ending.cause, ending.cause.value.words))
    return f"{verdict}: {result}, {reason}"


def of_kings_end(capture: Square, move: Move, by_player: bool) -> str:
    """Return how the king was captured."""
    whose, who = ("your opponent's", "You capture") if by_player else ("your", "Your opponent captures")
    return f"{who} {whose} king on {_name(capture)} with {move.uci()}."


def _name(square: Square) -> str:
    return chess.SQUARE_NAMES[square]
