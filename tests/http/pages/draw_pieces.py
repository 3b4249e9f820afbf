"""Paints the pieces for pictures as PNG: ``python -m tests.http.pages.draw_pieces`` writes their file anew."""

from __future__ import annotations

import io
import zlib
from typing import Any

import chess
import chess.svg

from gmd.http.pages import painting
from tests.tools import require_module


def rasterized(svg: str) -> bytes:
    """Return an SVG document as PNG, without its texts."""
    return bytes(require_module("resvg_py").svg_to_bytes(svg_string=svg, skip_system_fonts=True))


def pixels(png: bytes) -> Any:
    """Return a PNG's pixels as int[height, width, 4]: red, green, blue and opacity."""
    with require_module("PIL.Image").open(io.BytesIO(png)) as opened:
        return require_module("numpy").array(opened.convert("RGBA"), dtype=int)


def pieces() -> bytes:
    """Return python-chess's pieces one below another as PNG, with a palette."""
    numpy, side = require_module("numpy"), painting.SQUARE
    drawn = [chess.svg.piece(chess.Piece.from_symbol(symbol), size=side) for symbol in painting.PIECES]
    sheet = numpy.concatenate([pixels(rasterized(each)) for each in drawn])
    colors, places = numpy.unique(sheet.reshape(-1, 4), axis=0, return_inverse=True)
    rows = places.reshape(-1, side).astype(numpy.uint8)
    palette = colors.astype(numpy.uint8)
    return painting.png(
        *(side, len(rows), painting.INDEXED),
        {
            b"PLTE": palette[:, :3].tobytes(),
            b"tRNS": palette[:, 3].tobytes(),
            b"IDAT": zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows), 9),
        },
    )


if __name__ == "__main__":
    painting.SHEET.write_bytes(pieces())
