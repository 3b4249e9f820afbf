"""Pieces are legible on every square, whatever the terminal's background."""

from __future__ import annotations

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from gm_arena.board_drawing import FULL

#: W3C's guidelines require 3 for large text; a few squares in 256 colours have less.
LEAST = 2.5


def luminance(color: Color) -> float:
    """Return the relative luminance, as W3C's guidelines for contrast define it."""
    channels = [value / 255 for value in color.get_truecolor()]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: Color, second: Color) -> float:
    darker, lighter = sorted(map(luminance, (first, second)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("system", [ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT])
def test_both_sides_pieces_stand_out_on_every_square(system: ColorSystem) -> None:
    pieces = [Style.parse(style).color for style in (FULL.white, FULL.black)]
    squares = [Style.parse(style).bgcolor for style in (*FULL.plain, *FULL.marked, *FULL.fog, FULL.alarmed)]
    for piece in pieces:
        for square in squares:
            assert piece is not None
            assert square is not None
            assert contrast(piece.downgrade(system), square.downgrade(system)) >= LEAST, (piece, square)
