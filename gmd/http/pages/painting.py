"""Pictures of boards as PNG, for sites that show links and take no SVG. They are pure, as :mod:`.drawing` is.

They show what the SVG shows without its texts. The pieces are python-chess's, painted beforehand (``pieces.png``, which
``tests/http/pages/draw_pieces.py`` writes). Here they are only laid on squares, so a picture takes five to ten
milliseconds and needs no library.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Generator, Mapping
from functools import cache
from pathlib import Path

import chess

from gmd.http.pages.drawing import COLORS, FADED, Picture, covers

#: The sides of a square and of a picture, in pixels.
SQUARE = 75
SIZE = 8 * SQUARE
#: The file with the pieces, and which they are, from above.
SHEET = Path(__file__).with_name("pieces.png")
PIECES = "KQRBNPkqrbnp"
#: PNG's types of colours: of three bytes, and of a place in a palette.
RGB, INDEXED = 2, 3
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: zlib's level: a higher one takes twice as long, and saves a quarter.
_LEVEL = 3
#: The colour under a king in check, in place of the SVG's gradient.
_CHECK = "#e70000b0"

_Color = tuple[int, int, int]


def paint_steps(picture: Picture, *, flip: bool = False) -> Generator[None, None, bytes]:
    """Return a picture of a board as PNG, SIZE pixels wide and high, in steps: each paints a rank.

    :param flip: whether Black is at the bottom.
    """
    pieces = {square: (piece.symbol(), 1.0) for square, piece in chess.BaseBoard(picture.placement).piece_map().items()}
    pieces |= {square: (symbol, FADED) for square, symbol, _ in picture.remembered}
    squares, tables = _squares(picture), dict[tuple[_Color, float], list[bytes]]()
    packer, data = zlib.compressobj(_LEVEL), list[bytes]()
    for row in range(8):
        tiles = list[bytes]()
        for column in range(8):
            square = chess.square(7 - column if flip else column, row if flip else 7 - row)
            if square not in pieces:
                tiles.append(bytes(squares[square]) * SQUARE**2)
                continue
            symbol, opacity = pieces[square]
            key = squares[square], opacity
            if key not in tables:
                tables[key] = _table(*key)
            tiles.append(_tile(symbol, tables[key]))
        width = 3 * SQUARE
        lines = (b"".join(tile[at : at + width] for tile in tiles) for at in range(0, width * SQUARE, width))
        data.append(packer.compress(b"".join(b"\0" + line for line in lines)))  # 0: no filter
        yield
    return png(SIZE, SIZE, RGB, {b"IDAT": b"".join([*data, packer.flush()])})


def png(width: int, height: int, colors: int, chunks: Mapping[bytes, bytes]) -> bytes:
    """Return a PNG of eight bits a sample.

    :param colors: RGB or INDEXED.
    :param chunks: those between the first and the last.
    """
    header = struct.pack(">IIBBBBB", width, height, 8, colors, 0, 0, 0)
    every = {b"IHDR": header, **chunks, b"IEND": b""}
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in every.items()
    )
    return _SIGNATURE + b"".join(parts)


def _squares(picture: Picture) -> list[_Color]:
    """Return the colour of each square, under its piece."""
    moved = () if picture.last_move is None else chess.Move.from_uci(picture.last_move)
    marked = {moved.from_square, moved.to_square} if moved else set[int]()
    over = covers(picture)
    found = list[_Color]()
    for square in chess.SQUARES:
        name = "square light" if chess.BB_SQUARES[square] & chess.BB_LIGHT_SQUARES else "square dark"
        color = _parsed(COLORS[f"{name} lastmove" if square in marked else name])[0]
        for cover in (over.get(square), _CHECK if square == picture.check else None):
            if cover is not None:
                top, opacity = _parsed(cover)
                color = _mixed(top, color, opacity)
        found.append(color)
    return found


def _parsed(color: str) -> tuple[_Color, float]:
    """Return a colour in hexadecimal digits, and its opacity from 0 to 1."""
    red, green, blue, opacity = bytes.fromhex(color[1:].ljust(8, "f"))
    return (red, green, blue), opacity / 255


def _mixed(top: _Color, under: _Color, opacity: float) -> _Color:
    red, green, blue = (round(above * opacity + below * (1 - opacity)) for above, below in zip(top, under, strict=True))
    return red, green, blue


@cache
def _sheet() -> tuple[list[tuple[_Color, float]], dict[str, bytes]]:
    """Return the pieces' colours with their opacities, and for each piece the places of its pixels' colours."""
    content, at, found = SHEET.read_bytes(), len(_SIGNATURE), dict[bytes, bytes]()
    while at < len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        found[kind] = content[at + 8 : at + 8 + size]
        at += size + 12
    lines, line = zlib.decompress(found[b"IDAT"]), SQUARE + 1
    rows = [lines[at + 1 : at + line] for at in range(0, len(lines), line)]
    pieces = {symbol: b"".join(rows[index * SQUARE : (index + 1) * SQUARE]) for index, symbol in enumerate(PIECES)}
    palette = zip(*[iter(found[b"PLTE"])] * 3, found[b"tRNS"], strict=True)
    return [((red, green, blue), opacity / 255) for red, green, blue, opacity in palette], pieces


def _table(under: _Color, opacity: float) -> list[bytes]:
    """Return for red, green and blue what each of the pieces' colours becomes on a square."""
    mixed = [_mixed(color, under, own * opacity) for color, own in _sheet()[0]]
    return [bytes(samples).ljust(256, b"\0") for samples in zip(*mixed, strict=True)]


def _tile(symbol: str, table: list[bytes]) -> bytes:
    """Return a square with a piece, as rows of pixels of three bytes."""
    tile = bytearray(3 * SQUARE**2)
    for sample, samples in enumerate(table):
        tile[sample::3] = _sheet()[1][symbol].translate(samples)
    return bytes(tile)
