"""Pictures of boards as SVG. They are pure: the same picture is always the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import chess
import chess.svg

#: The smallest, the usual and the largest picture, in pixels.
MIN_SIZE, USUAL_SIZE, MAX_SIZE = 64, 400, 2_048
#: The widths of python-chess's squares, and of the strip for coordinates at the left and below, in its units.
_SQUARE, _STRIP = 45, 15
# The colours are those of style.css, for the moving board.
#: Colours over squares: seen in a sense, not seen, and where a piece was lost.
_WINDOW, _UNSEEN, _LOST = "#3f7fd466", "#40444ca8", "#c81e1e90"
#: The colour over squares where an enemy may stand, and those of the percentages on them.
_SHADE, _NUMBER, _EDGE = "#c2185b", "#ffffff", "#6d0d33"
#: The colours of squares.
COLORS = {
    "square light": "#f0d9b5",
    "square dark": "#b58863",
    "square light lastmove": "#cdd26a",
    "square dark lastmove": "#aaa23a",
}
#: The least probability that is written on its square.
MIN_SHOWN = 0.005
#: The opacity of a remembered piece.
FADED = 0.45
_COORDINATE, _AGE = "#77807b", "#ffffff"
#: Styles of python-chess's pieces, which a page's policy forbids, and the same as attributes.
_STYLE, _PROPERTY = re.compile(r' style="([^"]*)"'), re.compile(r"\s*([a-z-]+):\s*([^;]+);?")


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture shows.

    :ivar placement: the first field of a FEN.
    :ivar last_move: a move to mark, in UCI.
    :ivar check: the square of a king in check.
    :ivar window: squares to mark as sensed.
    :ivar unseen: squares to cover as not seen.
    :ivar lost: where a piece was captured.
    :ivar remembered: pieces that were seen before: their squares, symbols and ages in turns.
    :ivar shares: for each square the probability that it has an enemy piece, to shade it; None for no shades. Then
        squares that are not seen are not covered.
    """

    placement: str
    last_move: str | None = None
    check: int | None = None
    window: frozenset[int] = frozenset()
    unseen: frozenset[int] = frozenset()
    lost: int | None = None
    remembered: tuple[tuple[int, str, int], ...] = ()
    shares: Sequence[float] | None = None


def draw(picture: Picture, *, size: int = USUAL_SIZE, flip: bool = False) -> str:
    """Return a picture of a board as SVG; it takes some two milliseconds.

    :param size: its width and height in pixels.
    :param flip: whether Black is at the bottom.
    """
    board = chess.BaseBoard(picture.placement)
    for square, symbol, _ in picture.remembered:
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    drawn = chess.svg.board(
        board,
        orientation=chess.BLACK if flip else chess.WHITE,
        lastmove=None if picture.last_move is None else chess.Move.from_uci(picture.last_move),
        check=picture.check,
        fill=covers(picture),
        size=size,
        coordinates=False,
        colors=COLORS,
    )
    for square, _, _ in picture.remembered:
        place = 'transform="translate({:g}, {:g})"'.format(*_corner(square, flip=flip))
        drawn = drawn.replace(place, f'{place} opacity="{FADED}"')
    width = 8 * _SQUARE + _STRIP
    drawn = drawn.replace('viewBox="0 0 360 360"', f'viewBox="-{_STRIP} 0 {width} {width}"', 1)
    numbers = _ages(picture, flip=flip) if picture.shares is None else _numbers(picture, flip=flip)
    texts = "".join([*_coordinates(flip=flip), *numbers])
    return _STYLE.sub(_attributes, drawn).replace("</svg>", f"{texts}</svg>")


def covers(picture: Picture) -> dict[int, str]:
    """Return the colours over squares, with their opacities, as in ``#3f7fd466``."""
    return {
        **({} if picture.shares is not None else dict.fromkeys(sorted(picture.unseen), _UNSEEN)),
        **dict.fromkeys(sorted(picture.window), _WINDOW),
        **({} if picture.lost is None else {picture.lost: _LOST}),
        **{square: shade(share) for square, share in enumerate(picture.shares or ()) if share},
    }


def _corner(square: int, *, flip: bool) -> tuple[int, int]:
    """Return where a square's upper left corner is drawn."""
    file, rank = chess.square_file(square), chess.square_rank(square)
    return _SQUARE * (7 - file if flip else file), _SQUARE * (rank if flip else 7 - rank)


def _coordinates(*, flip: bool) -> Iterator[str]:
    for index, (file, rank) in enumerate(zip(chess.FILE_NAMES, reversed(chess.RANK_NAMES), strict=True)):
        at = _SQUARE * (7 - index if flip else index) + _SQUARE / 2
        yield _text(at, 8 * _SQUARE + _STRIP / 2, 10, _COORDINATE, file)
        yield _text(-_STRIP / 2, at, 10, _COORDINATE, rank)


def _ages(picture: Picture, *, flip: bool) -> Iterator[str]:
    for square, _, age in picture.remembered:
        if age == 0:
            continue  # the start position
        x, y = _corner(square, flip=flip)
        yield _text(x + _SQUARE - 8, y + 9, 12, _AGE, str(age))


def shade(share: float) -> str:
    """Return the colour over a square on which an enemy piece stands with a probability."""
    return f"{_SHADE}{round(255 * (0.1 + 0.7 * share**0.6)):02x}"


def _numbers(picture: Picture, *, flip: bool) -> Iterator[str]:
    """Yield the probabilities in percent, apart from those near 0 and 100."""
    for square, share in enumerate(picture.shares or ()):
        if MIN_SHOWN <= share < 1 - MIN_SHOWN:
            x, y = _corner(square, flip=flip)
            number = _text(x + 9, y + 9, 12, _NUMBER, str(round(100 * share)))
            yield number.replace("<text", f'<text stroke="{_EDGE}" stroke-width="2.5" paint-order="stroke"')


def _text(x: float, y: float, size: int, color: str, text: str) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="sans-serif" font-weight="bold" font-size="{size}" fill="{color}" '
        f'text-anchor="middle" dominant-baseline="central">{text}</text>'
    )


def _attributes(style: re.Match[str]) -> str:
    return "".join(f' {name}="{value.strip()}"' for name, value in _PROPERTY.findall(style[1]))
