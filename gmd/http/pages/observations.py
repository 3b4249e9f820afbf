"""What players of reconnaissance blind chess observe, in sentences."""

from __future__ import annotations

from collections.abc import Iterable

import chess

from gm_recon.possible import WINDOWS
from gmd.games.rbc_knowledge import Observed


def sensed(square: int | None, seen: Iterable[tuple[int, str]]) -> str:
    """Return a sense and the opponent's pieces that it showed: squares with symbols."""
    if square is None:
        return "Sensed nothing."
    pieces = [f"a {chess.piece_name(_type(symbol))} on {chess.square_name(at)}" for at, symbol in seen]
    shown = f"saw {_listed(pieces)}" if pieces else "saw no piece of the opponent"
    return f"Sensed around {chess.square_name(square)} and {shown}."


def moved(requested: str | None, taken: str | None, capture: int | None) -> str:
    """Return a move as asked for, and what came of it."""
    if requested is None:
        return "Passed."
    if taken is None:
        return f"Asked for {requested}: that was not possible, and nothing moved."
    made = f"{taken} was made" if taken == requested else f"{taken} was made instead"
    what = "." if capture is None else f" and captured a piece on {chess.square_name(capture)}."
    return f"Asked for {requested}: {made}{what}"


def lost(capture: int | None) -> str:
    """Return the opponent's capture, which is all that a side learns of the opponent's turn."""
    if capture is None:
        return "The opponent captured nothing."
    return f"The opponent captured the piece on {chess.square_name(capture)}."


def words_of(step: Observed, side: chess.Color) -> str:
    """Return what a side observed in a step."""
    if step.step == "opponent":
        return lost(step.opponent_capture)
    if step.step == "sense":
        seen = [(at, piece.symbol()) for at, piece in step.cells if piece is not None and piece.color != side]
        return sensed(_center([at for at, _ in step.cells]), seen)
    requested, taken, capture = step.move
    asked, made = (None if each is None else each.uci() for each in (requested, taken))
    return moved(asked, made, capture)


def _center(window: list[int]) -> int | None:
    """Return the square around which a window lies; None for an empty one."""
    squares = sum(1 << square for square in window)
    return next((each for each in window if WINDOWS[each] == squares), None)


def _type(symbol: str) -> chess.PieceType:
    return chess.Piece.from_symbol(symbol).piece_type


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
