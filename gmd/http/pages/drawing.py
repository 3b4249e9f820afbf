"""Pictures of boards as SVG. They are pure: the same picture is always the same bytes."""

from __future__ import annotations

from dataclasses import dataclass

import chess
import chess.svg

#: The smallest, the usual and the largest picture, in pixels.
MIN_SIZE, USUAL_SIZE, MAX_SIZE = 64, 400, 2_048
#: Colours of squares: seen in a sense, and not seen.
_WINDOW, _UNSEEN = "#3f7fd4a0", "#6b7280c0"
_COLORS = {
    "square light": "#ecdfc3",
    "square dark": "#a67f57",
    "square light lastmove": "#d5d47b",
    "square dark lastmove": "#a9a244",
    "margin": "#2f2a24",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture shows.

    :ivar placement: the first field of a FEN.
    :ivar last_move: a move to mark, in UCI.
    :ivar check: the square of a king in check.
    :ivar window: squares to mark as sensed.
    :ivar unseen: squares to cover as not seen.
    """

    placement: str
    last_move: str | None = None
    check: int | None = None
    window: frozenset[int] = frozenset()
    unseen: frozenset[int] = frozenset()


def draw(picture: Picture, *, size: int = USUAL_SIZE, flip: bool = False) -> str:
    """Return a picture of a board as SVG; it takes some two milliseconds.

    :param size: its width and height in pixels.
    :param flip: whether Black is at the bottom.
    """
    return chess.svg.board(
        chess.BaseBoard(picture.placement),
        orientation=chess.BLACK if flip else chess.WHITE,
        lastmove=None if picture.last_move is None else chess.Move.from_uci(picture.last_move),
        check=picture.check,
        fill={
            **dict.fromkeys(sorted(picture.unseen), _UNSEEN),
            **dict.fromkeys(sorted(picture.window), _WINDOW),
        },
        size=size,
        colors=_COLORS,
    )
