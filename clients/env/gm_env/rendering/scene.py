"""What there is to draw of a game: its pieces, the squares with a meaning, and a caption."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import chess
import numpy as np
from chess import Color, Square, SquareSet
from numpy.typing import NDArray

from gm_recon import WinReason

from ..actions import seen_by
from ..batch import BatchedRbc
from ..kernels.layout import NONE, OVER, TO_MOVE
from ..kernels.observing import OBSERVATION

#: Whose knowledge is drawn: the player's, or all of it.
RenderView = Literal["player", "truth"]
Rgb = tuple[int, int, int]

_LIGHT, _DARK = (236, 224, 200), (166, 136, 104)
#: Colours that are mixed into a square's for each of its meanings, and their shares.
_HIDDEN, _SENSED, _MADE, _REFUSED, _CAPTURED = (
    ((60, 62, 72), 0.6),
    ((90, 160, 235), 0.4),
    ((225, 205, 70), 0.55),
    ((235, 140, 40), 0.6),
    ((215, 60, 50), 0.65),
)
_PLANE = {name: number for number, name in enumerate(OBSERVATION)}


@dataclass
class Scene:
    """A drawing of a game.

    :ivar viewer: the player that sits below.
    :ivar board: the pieces that are shown.
    :ivar hidden: the squares of which nothing is shown.
    :ivar sensed: the squares that the player sensed.
    :ivar made: the source and the target of the player's last move.
    :ivar refused: the target that it requested without being able to move there.
    :ivar captured: the squares of the last captures, its own and the opponent's.
    :ivar caption: lines of text.
    """

    viewer: Color
    board: chess.BaseBoard
    hidden: SquareSet = field(default_factory=SquareSet)
    sensed: SquareSet = field(default_factory=SquareSet)
    made: SquareSet = field(default_factory=SquareSet)
    refused: SquareSet = field(default_factory=SquareSet)
    captured: SquareSet = field(default_factory=SquareSet)
    caption: list[str] = field(default_factory=list)

    def color_of(self, square: Square) -> Rgb:
        """Return the colour of a square, red, green and blue from 0 to 255."""
        shown = _LIGHT if (chess.square_file(square) + chess.square_rank(square)) % 2 else _DARK
        meanings = (
            (self.hidden, _HIDDEN),
            (self.sensed, _SENSED),
            (self.made, _MADE),
            (self.refused, _REFUSED),
            (self.captured, _CAPTURED),
        )
        for squares, (color, share) in meanings:
            if square in squares:
                shown = _mix(shown, color, share)
        return shown


def scene_of(batch: BatchedRbc, game: int, viewer: Color, view: RenderView = "player") -> Scene:
    """Return the drawing of a game; the parameters are those of :func:`gm_env.rendering.draw`."""
    observed = batch.observations(viewer)[game]
    squares = {name: _squares(observed[plane], viewer) for name, plane in _PLANE.items()}
    sensed = squares["the squares sensed this turn"]
    scene = Scene(viewer, chess.BaseBoard(None), sensed=sensed)
    if view == "truth":
        scene.board = batch.board(game)
    else:
        _place(scene.board, observed, viewer)
        scene.hidden = ~(sensed | SquareSet(scene.board.occupied_co[viewer]))
    made = squares["the target of the last move made"]
    scene.made = squares["the source of the last move made"] | made
    scene.refused = squares["the target of the last move requested"] - made
    scene.captured = (
        squares["the square on which the last move captured"]
        | squares["the square on which the opponent's last move captured"]
    )
    scene.caption = [_due(batch, game), *_results(squares)]
    return scene


def _mix(color: Rgb, other: Rgb, share: float) -> Rgb:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(color, other, strict=True))
    return red, green, blue


def _squares(plane: NDArray[Any], viewer: Color) -> SquareSet:
    return SquareSet(seen_by(square, viewer) for square in np.flatnonzero(plane).tolist())


def _place(board: chess.BaseBoard, observed: NDArray[np.uint8], viewer: Color) -> None:
    """Place the opponent's pieces that were sensed, then the player's own."""
    for plane in (*range(6, 12), *range(6)):
        piece = chess.Piece(plane % 6 + 1, viewer if plane < 6 else not viewer)
        for square in _squares(observed[plane], viewer):
            board.set_piece_at(square, piece)


def _due(batch: BatchedRbc, game: int) -> str:
    phase, reason = int(batch.phases[game]), int(batch.reasons[game])
    if phase == OVER:
        winner = int(batch.winners[game])
        result = "a draw" if winner == NONE else f"{_name(winner)} wins"
        return f"{WinReason(reason).name.lower().replace('_', ' ')}: {result}"
    phase_name = "move" if phase == TO_MOVE else "sense"
    return f"ply {batch.plies[game] + 1}: {_name(int(batch.colors[game]))} to {phase_name}"


def _results(squares: dict[str, SquareSet]) -> list[str]:
    """Return lines about the player's last move and its loss since then."""
    names = {name: "".join(map(chess.square_name, found)) for name, found in squares.items()}
    requested = names["the source of the last move requested"] + names["the target of the last move requested"]
    made = names["the source of the last move made"] + names["the target of the last move made"]
    capture = names["the square on which the last move captured"]
    lost = names["the square on which the opponent's last move captured"]
    lines = []
    if requested:
        captured = f", captured on {capture}" if capture else ""
        lines.append(f"requested {requested}, made {made or 'no move'}{captured}")
    if lost:
        lines.append(f"lost a piece on {lost}")
    return lines


def _name(color: int) -> str:
    return "White" if color else "Black"
