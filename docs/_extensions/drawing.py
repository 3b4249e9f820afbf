"""Boards, grids and text as SVG, readable in light and dark, and the same bytes on every platform."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

import chess
import chess.svg

_STYLE = """
.card{fill:#fbfaf7;stroke:#c9c5ba} .light{fill:#f3ecdc} .dark{fill:#d9cbae} .set{fill:#2f6fb3} .seen{fill:#a9cbee}
.from{fill:#f0cf6b} .to{fill:#e79a4b} .line{stroke:#8d8676;fill:none;stroke-width:1}
text{font-family:DejaVu Sans,Verdana,sans-serif;fill:#26241f} .head{font-weight:bold}
.soft{fill:#6a6456}
.on{fill:#26241f}
.key{fill:#1c5a9c}
@media (prefers-color-scheme:dark){.card{fill:#1d1f23;stroke:#4a4d55} .light{fill:#474b54} .dark{fill:#373b43}
.set{fill:#6cb0f5} .seen{fill:#35597f} .from{fill:#8a7020} .to{fill:#a4601f} .line{stroke:#8a8d96}
text{fill:#ecebe6} .soft{fill:#b5b3aa} .on{fill:#ecebe6} .key{fill:#8cc4ff}}
"""


class Drawing:
    """An SVG document of text and boards on a card."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' role="img" aria-labelledby="t d"><title id="t">{escape(title)}</title>'
            f'<desc id="d">{escape(description)}</desc><style>{_STYLE}</style>',
            f'<rect class="card" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        ]

    def write(self, path: Path) -> None:
        """Write the document to a file."""
        path.write_text("\n".join([*self._parts, "</svg>"]) + "\n", "utf-8")

    def text(self, x: float, y: float, text: str, size: float = 13, look: str = "on", anchor: str = "start") -> None:
        """Write a line; ``y`` is where its letters stand."""
        self._parts.append(
            f'<text class="{look}" x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}">{escape(text)}'
            "</text>"
        )

    def box(self, x: float, y: float, width: float, height: float, look: str) -> None:
        """Draw a rectangle."""
        self._parts.append(f'<rect class="{look}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>')

    def board(
        self,
        x: float,
        y: float,
        side: float,
        *,
        looks: Mapping[int, str] | None = None,
        labels: Mapping[int, str] | None = None,
        pieces: Mapping[int, chess.Piece] | None = None,
        ranks: str = "",
    ) -> None:
        """Draw a board, square 0 at the lower left.

        :param side: of a square.
        :param looks: classes of squares that are not plain.
        :param labels: what is written on squares.
        :param pieces: by square.
        :param ranks: the names of the ranks from below; without them none are written, and no files.
        """
        for square in chess.SQUARES:
            left, top = self.corner(x, y, side, square)
            plain = "dark" if (square // 8 + square) % 2 == 0 else "light"
            self.box(left, top, side, side, (looks or {}).get(square, plain))
            if pieces and square in pieces:
                self._piece(left, top, side, pieces[square])
            if labels and square in labels:
                self.text(left + side / 2, top + side * 0.63, labels[square], side * 0.38, anchor="middle")
        self.box(x, y, 8 * side, 8 * side, "line")
        for place, name in enumerate(ranks):
            self.text(x - 6, y + side * (7.5 - place) + 4, name, 11, "soft", "end")
            self.text(x + side * (place + 0.5), y + 8 * side + 14, "abcdefgh"[place], 11, "soft", "middle")

    @staticmethod
    def corner(x: float, y: float, side: float, square: int) -> tuple[float, float]:
        """Return the upper left corner of a square of a board."""
        return x + side * (square % 8), y + side * (7 - square // 8)

    def _piece(self, left: float, top: float, side: float, piece: chess.Piece) -> None:
        drawn = chess.svg.PIECES[piece.symbol()].replace(' id="', ' data-piece="')  # an id must be there once
        self._parts.append(f'<g transform="translate({left:g} {top:g}) scale({side / 45:g})">{drawn}</g>')
