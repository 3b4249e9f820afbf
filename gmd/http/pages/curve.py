"""Curves of the numbers of possible positions, as SVG. They are pure: the same counts are always the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10

import chess

from gmd.http.pages.counting import Count, Counts, surprises
from gmd.http.pages.words import number_words, side_name
from gmd.play.beliefs import CAP

#: The picture and the part of it that has the curves, in pixels.
WIDTH, HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 708, 44, 262
#: More turns than this are drawn without marks.
MARKED_TURNS = 240
#: What is written beside the axis, apart from the cap.
_TICKS = (1, 10, 100, 1_000, 10_000)
#: How far above the cap larger numbers are drawn.
_ABOVE = 12

# Media queries in a picture ask for its own width: on a telephone fewer words are larger.
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1d2321; }
.ground { fill: #ffffff; }
.grid { stroke: #cfd5d1; }
.cap { stroke: #9b1c1c; stroke-dasharray: 5 3; }
.ply { stroke: #b07f00; stroke-width: 2; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
.white { stroke: #b45309; }
.black { stroke: #1d4f91; }
.before { stroke-width: 1; opacity: .55; }
circle.white { fill: #ffffff; stroke-width: 2; }
rect.black { fill: #1d4f91; stroke: none; }
circle.surprise { fill: none; stroke: #c2185b; stroke-width: 2.5; }
text.surprise { fill: #c2185b; font-weight: 700; }
@media (max-width: 30rem) {
text { font-size: 20px; }
.wide { display: none; }
}
@media (prefers-color-scheme: dark) {
text { fill: #e8ece9; }
.ground { fill: #1f2522; }
.grid { stroke: #3a433e; }
.cap { stroke: #ff9c93; }
.ply { stroke: #e5bd4a; }
.white { stroke: #f0a24a; }
.black { stroke: #7db4ff; }
circle.white { fill: #1f2522; }
rect.black { fill: #7db4ff; }
circle.surprise { stroke: #ff7fb0; }
text.surprise { fill: #ff7fb0; }
}
"""


def draw_counts(counts: Counts, ply: int | None = None) -> str:
    """Return the curves of both players on a logarithmic axis.

    A curve joins the numbers after the senses; a line above each of its points reaches to the number before the sense.

    :param ply: a ply to mark.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img"><title>Possible positions by ply</title><style>{_STYLE}</style>'
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        *_axes(counts),
    ]
    if ply is not None:
        x = _x(counts, ply)
        parts.append(f'<line class="ply" x1="{x}" x2="{x}" y1="{_TOP - 12}" y2="{_BOTTOM}"/>')
    for side in chess.COLORS:
        parts += _curve(counts, side)
    parts += _surprises(counts)
    return "".join([*parts, *_legend(), "</svg>"])


def _axes(counts: Counts) -> Iterator[str]:
    for tick in _TICKS:
        y = _y(tick)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{tick:,}</text>'
    y = _y(CAP)
    yield f'<line class="cap" x1="{_LEFT}" x2="{_RIGHT}" y1="{y}" y2="{y}"/>'
    yield f'<text x="{_RIGHT}" y="{_TOP - 18}" text-anchor="end">above the line: more than {CAP:,}</text>'
    for index, ply in enumerate(_plies(counts.plies)):
        wide = ' class="wide"' if index % 2 else ""
        yield f'<text{wide} x="{_x(counts, ply)}" y="{_BOTTOM + 18}" text-anchor="middle">{ply}</text>'
    yield f'<text x="{(_LEFT + _RIGHT) // 2}" y="{HEIGHT - 4}" text-anchor="middle" class="wide">ply</text>'


def _plies(last: int) -> list[int]:
    """Return the plies that are written below the axis: not too many."""
    step = next(step for power in range(7) for step in (10**power, 2 * 10**power, 5 * 10**power) if last <= step * 12)
    return list(range(0, last + 1, step))


def _curve(counts: Counts, side: chess.Color) -> Iterator[str]:
    turns = [turn for turn in counts.turns if turn.side == side]
    name = side_name(side).lower()
    if len(counts.turns) <= MARKED_TURNS:
        lines = "".join(f"M{_x(counts, turn.ply)} {_y(turn.after)}V{_y(turn.before)}" for turn in turns)
        yield f'<path class="curve before {name}" d="{lines}"/>'
    points = " ".join(f"{_x(counts, turn.ply)},{_y(turn.after)}" for turn in turns)
    yield f'<polyline class="curve {name}" points="{points}"/>'
    if len(counts.turns) <= MARKED_TURNS:
        yield from (_mark(side, _x(counts, turn.ply), _y(turn.after), _words(turn)) for turn in turns)


def _surprises(counts: Counts) -> Iterator[str]:
    """Yield rings around the largest surprises, with their numbers."""
    for number, turn in enumerate(surprises(counts), 1):
        x, y = _x(counts, turn.ply), _y(turn.after)
        yield f'<circle class="surprise" cx="{x}" cy="{y}" r="8"/>'
        below = y < _BOTTOM - 24
        yield f'<text class="surprise" x="{x}" y="{y + (22 if below else -13)}" text-anchor="middle">{number}</text>'


def _mark(side: chess.Color, x: float, y: float, title: str = "") -> str:
    title = f"<title>{title}</title>" if title else ""
    if side:
        return f'<circle class="white" cx="{x}" cy="{y}" r="3.5">{title}</circle>'
    return f'<rect class="black" x="{round(x - 3.5, 1)}" y="{round(y - 3.5, 1)}" width="7" height="7">{title}</rect>'


def _words(turn: Count) -> str:
    before, after = number_words(turn.before), number_words(turn.after)
    return f"Ply {turn.ply}, {side_name(turn.side)}: {before} before the sense, {after} after it"


def _legend() -> Iterator[str]:
    for side, x in ((chess.WHITE, _LEFT), (chess.BLACK, _LEFT + 90)):
        name = side_name(side)
        yield f'<line class="curve {name.lower()}" x1="{x}" x2="{x + 24}" y1="20" y2="20"/>{_mark(side, x + 12, 20)}'
        yield f'<text x="{x + 30}" y="24">{name}</text>'
    yield f'<text class="wide" x="{_LEFT + 180}" y="24">thin lines: before the sense</text>'


def _x(counts: Counts, ply: int) -> float:
    return round(_LEFT + 12 + (_RIGHT - _LEFT - 24) * ply / max(1, counts.plies), 1)


def _y(number: int | None) -> float:
    if number is None:
        return round(_y(CAP) - _ABOVE, 1)
    return round(_BOTTOM - (_BOTTOM - _TOP) * log10(max(1, number)) / log10(CAP), 1)
