"""Charts: numbers over games or over time, as the geometry of an SVG picture that the server draws.

``curves.html`` draws what :func:`chart` returns. It is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, floor, log10

#: The picture's size, and the room left of the plot, right of it, above and below, in the picture's units.
WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 28, 12, 50
#: About how many marks an axis has.
MARKS = 5
_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line to draw.

    :ivar points: pairs of x and y, in the order of x; ``band``: triples of x and the ends of the interval.
    """

    name: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float, float]] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """A value that means something, drawn across the picture."""

    name: str
    y: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of an axis: its place in the picture, and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A line in the picture: an SVG path for the line, one for its band, and where it ends."""

    name: str
    path: str
    band: str
    end: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture.

    :ivar words: what it shows, for those who do not see it.
    """

    title: str
    x_label: str
    y_label: str
    words: str
    lines: list[Drawn]
    levels: list[Mark]
    x_marks: list[Mark]
    y_marks: list[Mark]

    width, height = WIDTH, HEIGHT
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM


def chart(
    title: str,
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    words: str,
    levels: Sequence[Level] = (),
    limits: tuple[float, float] | None = None,
    times: bool = False,
) -> Chart | None:
    """Return the picture of some lines; None if there is no point.

    :param limits: y is shown within these only.
    :param times: whether x is a time, in seconds since 1970.
    """
    if not any(line.points for line in lines):
        return None
    ends = [x for line in lines for x, _ in line.points]
    first, last = _apart(min(ends), max(ends), _MINUTE if times else 1.0)
    x_marks = _time_marks(first, last) if times else _whole_marks(first, last)
    low, high = _heights(lines, levels, limits)
    y_marks = _marks(low, high)
    low, high = min(low, y_marks[0]), max(high, y_marks[-1])

    def at_x(x: float) -> float:
        return LEFT + (x - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def at_y(y: float) -> float:
        return TOP + (high - min(high, max(low, y))) / (high - low) * (HEIGHT - TOP - BOTTOM)

    return Chart(
        title,
        x_label,
        y_label,
        words,
        [_drawn(line, at_x, at_y) for line in lines if line.points],
        [Mark(round(at_y(level.y), 1), level.name) for level in levels],
        [Mark(round(at_x(x), 1), text) for x, text in x_marks],
        [Mark(round(at_y(y), 1), _number(y)) for y in y_marks],
    )


def _drawn(line: Line, at_x: Callable[[float], float], at_y: Callable[[float], float]) -> Drawn:
    points = [(at_x(x), at_y(y)) for x, y in line.points]
    upper = [(at_x(x), at_y(high)) for x, _, high in line.band]
    lower = [(at_x(x), at_y(low)) for x, low, _ in reversed(line.band)]
    band = f"{_path([*upper, *lower])}Z" if len(upper) > 1 else ""
    end = points[-1]
    return Drawn(line.name, _path(points), band, (round(end[0], 1), round(end[1], 1)))


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "".join(f"{'L' if number else 'M'}{x:.1f} {y:.1f}" for number, (x, y) in enumerate(points))


def _heights(lines: Sequence[Line], levels: Sequence[Level], limits: tuple[float, float] | None) -> tuple[float, float]:
    """Return the range of y to show."""
    found = [y for line in lines for _, y in line.points]
    found += [y for line in lines for _, low, high in line.band for y in (low, high)]
    if limits is not None:
        found = [min(limits[1], max(limits[0], y)) for y in found]
    return _apart(min(all_ := [*found, *(level.y for level in levels)]), max(all_), 1.0)


def _apart(low: float, high: float, least: float) -> tuple[float, float]:
    """Return a range, widened to some least width."""
    missing = max(0.0, least - (high - low)) / 2
    return low - missing, high + missing


def _step(width: float) -> float:
    """Return the distance of marks: 1, 2 or 5 times a power of ten."""
    rough = width / MARKS
    power = 10.0 ** floor(log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)


def _marks(low: float, high: float) -> list[float]:
    """Return marks that enclose a range."""
    step = _step(high - low)
    return [number * step for number in range(floor(low / step), ceil(high / step) + 1)]


def _whole_marks(first: float, last: float) -> list[tuple[float, str]]:
    """Return marks at whole numbers within a range."""
    step = max(1.0, _step(last - first))
    return [(n * step, _number(n * step)) for n in range(ceil(first / step), floor(last / step) + 1)]


def _time_marks(first: float, last: float) -> list[tuple[float, str]]:
    """Return marks at equal distances, with as much of the time as distinguishes them."""
    seconds = ":%S" if last - first < _HOUR else ""
    form = f"%H:%M{seconds}" if last - first < 2 * _DAY else "%b %d" if last - first < 300 * _DAY else "%Y-%m"
    places = [first + (last - first) * (number + 0.5) / MARKS for number in range(MARKS)]
    return [(at, datetime.fromtimestamp(at, UTC).strftime(form)) for at in places]


def _number(value: float) -> str:
    """Return a number as people read it: without needless digits, and with a real minus sign."""
    return f"{0.0 if abs(value) < 1e-9 else value:.6g}".replace("-", "\N{MINUS SIGN}")
