"""Draws the pictures of gm_env's encodings out of gm_env itself: ``python docs/_extensions/encoding_pictures.py``.

They go to ``docs/pictures``, or to the folder that is named.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import numpy as np
from chess import Move
from drawing import Drawing

from gm_env import (
    FROM_TO_BY_PLANES,
    HEADER_ROWS,
    INFORMATION,
    INNER_BY_SQUARE,
    INNER_SQUARES,
    OBSERVATION,
    PASS,
    PRIVILEGED,
    BatchedRbc,
    action_of,
    sense_of,
)
from gm_env.actions import seen_by

_SIDE = 34
#: The game of the examples: the square sensed and the move requested, for each turn.
_GAME = (("e7", "e2e4"), ("e2", "d7d5"), ("d6", "e4d5"), ("d5", "d8d5"), ("d5", "d2d4"), ("d4", "d5d4"))


def draw_planes(folder: Path) -> None:
    """Draw the planes of moves from one square, promotions, and one move of both colours."""
    picture = Drawing(
        *(760, 420, "The 73 planes of moves"),
        "The plane of every move from d4, the planes of promotions from b7, and e2-e4 beside e7-e5.",
    )
    source, planes = chess.D4, {}
    for plane in range(64):
        number = int(FROM_TO_BY_PLANES[0, 64 * plane + source])
        if number >= 0:
            planes[number // 5 % 64] = plane
    looks = {square: "seen" if plane < 56 else "from" for square, plane in planes.items()}
    picture.text(34, 28, "The plane of each move from d4", 15, "head")
    labels = {square: str(plane) for square, plane in planes.items()}
    picture.board(34, 44, _SIDE, looks=looks | {source: "set"}, labels=labels, ranks="12345678")
    picture.text(34, 352, "blue: a queen's, 7 · direction + steps − 1", 12)
    picture.text(34, 372, "yellow: a knight's, clockwise from 56", 12)
    picture.text(34, 400, f"number: 64 · plane + source; {PASS}: a pass", 12, "head")
    _draw_promotions(picture)
    _draw_both_colors(picture)
    picture.write(folder / "encoding-planes.svg")


def _draw_promotions(picture: Drawing) -> None:
    picture.text(350, 28, "The planes of a pawn's moves from b7", 15, "head")
    for column, (target, letter) in enumerate(((chess.A8, "a8"), (chess.B8, "b8"), (chess.C8, "c8"))):
        picture.text(440 + 80 * column, 52, f"to {letter}", 12, "soft", "middle")
        for row, promotion in enumerate((chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)):
            top = 60 + 34 * row
            if not column:
                picture.text(350, top + 21, chess.piece_name(promotion), 12)
            action = action_of(Move(chess.B7, target, promotion), chess.WHITE)
            picture.box(404 + 80 * column, top, 72, 30, "to" if promotion != chess.QUEEN else "seen")
            picture.text(440 + 80 * column, top + 20, str(action // 64), 14, "head", "middle")


def _draw_both_colors(picture: Drawing) -> None:
    picture.text(350, 228, "White's e2–e4 and Black's e7–e5: one number", 15, "head")
    examples = (("e2e4", chess.WHITE, "12345678"), ("e7e5", chess.BLACK, "87654321"))
    for column, (uci, color, ranks) in enumerate(examples):
        move, x = Move.from_uci(uci), 372 + 200 * column
        source, target = seen_by(move.from_square, color), seen_by(move.to_square, color)
        picture.board(x, 244, 15, looks={source: "from", target: "to"}, ranks=ranks)
        plane = action_of(move, color) >> 6
        picture.text(x, 400, f"64 · {plane} + {source} = {action_of(move, color)}", 13, "key")


def draw_from_to(folder: Path) -> None:
    """Draw a move in reconchess's numbers."""
    move = Move.from_uci("e7f8n")
    source, target = move.from_square, move.to_square
    number = int(FROM_TO_BY_PLANES[1, action_of(move, chess.WHITE)])
    title = "A move by its source, target and promotion"
    picture = Drawing(760, 350, title, f"White's pawn takes from e7 on f8 and becomes a knight: {number}.")
    pieces = {chess.E7: chess.Piece(chess.PAWN, chess.WHITE), chess.F8: chess.Piece(chess.BISHOP, chess.BLACK)}
    picture.board(34, 30, _SIDE, looks={source: "from", target: "to"}, pieces=pieces, ranks="12345678")
    picture.text(350, 52, "e7×f8 = knight, of White", 16, "head")
    rows = ((f"source: e7 is {source}", "from"), (f"target: f8 is {target}", "to"), ("promotion: knight is 1", "seen"))
    for row, (text, look) in enumerate(rows):
        picture.box(350, 74 + 36 * row, 20, 20, look)
        picture.text(380, 89 + 36 * row, text, 14)
    picture.text(350, 206, f"5 · (64 · {source} + {target}) + 1 = {number}", 18, "key")
    picture.text(350, 240, f"by planes: {action_of(move, chess.WHITE)}", 14)
    picture.text(350, 272, "promotion: 0 none, 1 knight, 2 bishop, 3 rook, 4 queen", 13, "soft")
    picture.text(350, 294, "0 is a pass. For Black the squares are mirrored.", 13, "soft")
    picture.write(folder / "encoding-from-to.svg")


def draw_senses(folder: Path) -> None:
    """Draw the numbers of both lists of senses."""
    picture = Drawing(
        *(760, 370, "The numbers of senses"),
        "The numbers of the 64 squares, and of the 36 inner squares with the one for each square of the edge.",
    )
    window = {square: "seen" for square in chess.SQUARES if chess.square_distance(square, chess.D4) <= 1}
    picture.text(34, 26, "64 squares, and 64 for a pass", 15, "head")
    picture.board(34, 40, _SIDE, looks=window, labels={s: str(s) for s in chess.SQUARES}, ranks="12345678")
    picture.text(34, 352, f"blue: the window of d4, sense {sense_of(chess.D4, chess.WHITE)}", 12)
    inner = {int(square): str(number) for number, square in enumerate(INNER_SQUARES)}
    edge = {square: str(INNER_BY_SQUARE[square]) for square in chess.SQUARES if square not in inner}
    picture.text(420, 26, "36 squares: INNER_SQUARES", 15, "head")
    picture.board(420, 40, _SIDE, looks=dict.fromkeys(inner, "from"), labels=inner | edge, ranks="12345678")
    picture.text(420, 352, "the edge has the number of the square inside", 12)
    picture.write(folder / "encoding-senses.svg")


def play(turns: int) -> BatchedRbc:
    """Return the game of the examples after some turns and the sense of the next."""
    batch = BatchedRbc(1)
    for number, (square, uci) in enumerate(_GAME[: turns + 1]):
        color = bool(batch.colors[0])
        batch.sense(np.array([sense_of(chess.parse_square(square), color)]))
        if number < turns:
            batch.move(np.array([action_of(Move.from_uci(uci), color)]))
    return batch


def _draw_tensor(path: Path, title: str, planes: Any, names: Sequence[str], batch: BatchedRbc) -> None:
    """Draw the true board, and each plane of a tensor as Black, who is to move, sees it."""
    rows = -(-len(names) // 6)
    number = int(batch.plies[0])
    about = f"A board for each of {len(names)} planes: set squares are blue, a plane with one number shows it."
    picture = Drawing(760, 210 + 134 * rows, title, about)
    picture.text(24, 28, title, 15, "head")
    pieces = {seen_by(square, chess.BLACK): piece for square, piece in batch.board(0).piece_map().items()}
    picture.board(40, 44, 17, pieces=pieces, ranks="87654321")
    story = ("The true board, as Black sees it", f"after {number} turns: 1. e4 d5 2. ed Qd5 3. d4", "")
    story += (
        "Black has sensed d4, and is to move.",
        f"{len(names)} planes of {planes.shape[1]} × {planes.shape[2]}",
        "",
    )
    for line, text in enumerate(story):
        picture.text(220, 62 + 22 * line, text, 14)
    for plane, name in enumerate(names):
        x, y = 24 + 120 * (plane % 6), 206 + 134 * (plane // 6)
        values = planes[plane].ravel().tolist()
        everywhere = name.startswith("everywhere")
        picture.board(x, y, 10, looks={} if everywhere else {s: "set" for s, value in enumerate(values) if value})
        if everywhere:
            picture.text(x + 40, y + 50, str(values[0]), 26, "head", "middle")
        picture.text(x + 84, y + 12, str(plane), 12, "key")
        for line, text in enumerate(_wrapped(name.removeprefix("everywhere: "))):
            picture.text(x, y + 92 + 10 * line, text, 8.5, "soft")
    picture.write(path)


def _wrapped(name: str, width: int = 24) -> list[str]:
    lines = [""]
    for word in name.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def draw_information(folder: Path) -> None:
    """Draw Black's rows of the example."""
    batch = play(5)
    rows = batch.information_states(chess.BLACK)[0, HEADER_ROWS:]
    about = "Below the header, a table: a row for each of Black's turns, a column for each of its 14 numbers."
    picture = Drawing(760, 300, "An information state", about)
    picture.text(24, 28, "Black's information state in the same game", 15, "head")
    groups = (("lost", 1, "to"), ("sensed", 1, "seen"), ("the window's nine cells", 9, "from"))
    groups += (("requested", 1, "seen"), ("made", 1, "seen"), ("capture", 1, "to"))
    widths = [56, 56, *([38] * 9), 76, 76, 60]
    x = 68.0
    column = 0
    for name, size, look in groups:
        width = float(sum(widths[column : column + size]))
        picture.box(x, 44, width - 2, 24, look)
        picture.text(x + width / 2, 61, name, 11.5, anchor="middle")
        x, column = x + width, column + size
    for row in range(5):
        x, top = 68.0, 72 + 28 * row
        picture.text(24, top + 18, f"row {row}", 12, "soft")
        for width, value in zip(widths, rows[row].tolist(), strict=True):
            picture.box(x, top, width - 2, 26, "light" if value != -1 else "dark")
            picture.text(x + width / 2 - 1, top + 18, str(value), 12, "on" if value != -1 else "soft", "middle")
            x += width
    notes = (
        f"Below a header of {HEADER_ROWS} rows: {len(INFORMATION)} numbers a row; −1 is none, or a turn to come.",
        "Cells: 0 empty, 1 to 6 own pawn to king, 7 to 12 the opponent's, from the window's lowest rank.",
        "Row 1: White captured on 27 (d5), where Black's pawn was; Black sensed d5 and took there with its queen.",
        "Row 2: Black has sensed d4, and is to move.",
    )
    for line, text in enumerate(notes):
        picture.text(24, 232 + 19 * line, text, 11.5)
    picture.write(folder / "encoding-information.svg")


def draw_all(folder: Path) -> None:
    """Write all pictures into a folder."""
    draw_planes(folder)
    draw_from_to(folder)
    draw_senses(folder)
    batch = play(5)
    shown = "An observation: what Black observed this turn"
    _draw_tensor(folder / "encoding-observation.svg", shown, batch.observations()[0], OBSERVATION, batch)
    draw_information(folder)
    truth = "The privileged state: a policy that reads it cheats"
    _draw_tensor(folder / "encoding-privileged.svg", truth, batch.privileged_state()[0], PRIVILEGED, batch)


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parents[1] / "pictures")
