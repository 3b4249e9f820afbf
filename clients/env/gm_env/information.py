"""All that a player has observed in a game, as text."""

from __future__ import annotations

import chess
import numpy as np
from chess import Color
from numpy.typing import NDArray

from gm_recon import WinReason

from .kernels.layout import COLOR, NONE, OVER, PHASE, PLY, REASON, TO_MOVE, WINNER

#: The cells of a window: a capital is an own piece, a small letter an opponent's, a space no square.
_CELLS = ".PNBRQKpnbrqk"


def information_string(
    start: str,
    limits: tuple[int | None, int | None],
    viewer: Color,
    numbers: NDArray[np.int32],
    rows: NDArray[np.int16],
) -> str:
    """Return the text, a line for the rules and the player, one for each of its turns and one for the phase.

    :param start: the FEN of the start position.
    :param limits: of reversible moves and of turns.
    :param numbers: the game's row.
    :param rows: the player's information state, unabridged.
    """
    lines = [f"{chess.COLOR_NAMES[viewer]} from {start}, limits {limits[0]} {limits[1]}"]
    for row in rows.tolist():
        lines.append(_turn(row))
    while lines[-1] == _NOTHING:  # rows of turns to come; and the turn in progress is part of the next line
        lines.pop()
    lines.append(_due(numbers, viewer))
    return "\n".join(lines)


def _turn(row: list[int]) -> str:
    lost, sensed, *cells, requested, taken, capture = row
    seen = "".join(_CELLS[cell] if cell != NONE else " " for cell in cells)
    return f"lost {lost}; sensed {sensed} [{seen}]; requested {requested} made {taken} capturing {capture}"


_NOTHING = _turn([NONE] * 14)


def _due(numbers: NDArray[np.int32], viewer: Color) -> str:
    if numbers[PHASE] == OVER:
        winner = "nobody" if numbers[WINNER] == NONE else chess.COLOR_NAMES[numbers[WINNER]]
        return f"over after {numbers[PLY]} turns: {WinReason(int(numbers[REASON])).name}, won by {winner}"
    if numbers[COLOR] != viewer:
        return "waiting"
    return "to move" if numbers[PHASE] == TO_MOVE else "to sense"
