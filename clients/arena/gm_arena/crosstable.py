"""Standings and crosstables as text and as CSV: each player's points, and the result of each game::

    games = [Game("ada", "bea", "1-0"), Game("bea", "ada", "1/2-1/2"), Game("ada", "cleo", None)]
    print(csv_text(crosstable(["ada", "bea", "cleo"], games)))

The order is by points, then by these tie-breaks:

- **Sonneborn-Berger** (``S-B``): for each game the points of an opponent beaten, or half those of one drawn with.
- **Direct encounter** (``Direct``): one's points against the opponents with the same number of points.
- **Wins**.

Only games that were played count for these: no forfeit. Players who are still level rank in the order given.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = [
    "Game",
    "Row",
    "Table",
    "standings",
    "crosstable",
    "drawn_table",
    "csv_text",
    "HALF_POINTS",
    "PLAYED",
    "TIEBREAKS",
]

#: Half-points of White and Black by result. In FIDE's signs ``+/-`` is a game that was not played, since Black did not
#: come, and ``-/-`` one to which neither came.
HALF_POINTS = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1), "+/-": (2, 0), "-/+": (0, 2), "-/-": (0, 0)}
#: The results of games that were played.
PLAYED = ("1-0", "0-1", "1/2-1/2")
#: The tie-breaks by name.
TIEBREAKS = ("S-B", "Direct", "Wins")

#: The most characters of a line of a table: more than any has.
WIDEST = 100_000


class Game(NamedTuple):
    """A game of two players, by their names.

    :ivar result: one of :data:`HALF_POINTS`; None while the game is not over.
    """

    white: str
    black: str
    result: str | None


class Row(NamedTuple):
    """A player's standing. Points and tie-breaks are in points; the counts are of games played."""

    rank: int
    name: str
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    tiebreaks: dict[str, float]


class Side(NamedTuple):
    """A game from the side of one of its players."""

    opponent: str
    half_points: int | None
    played: bool


class Table(NamedTuple):
    """Cells of text: halves are ½, and an unfinished game is a dot."""

    columns: list[str]
    rows: list[list[str]]


def sides(players: Iterable[str], games: Iterable[Game]) -> dict[str, list[Side]]:
    """Return the games of each player.

    :raises KeyError: a game has a player who is not among ``players``.
    """
    found: dict[str, list[Side]] = {name: [] for name in players}
    for game in games:
        white, black = (None, None) if game.result is None else HALF_POINTS[game.result]
        played = game.result in PLAYED
        found[game.white].append(Side(game.black, white, played))
        found[game.black].append(Side(game.white, black, played))
    return found


def standings(players: Sequence[str], games: Iterable[Game]) -> list[Row]:
    """Return the players in order, best first.

    :param players: all of them, the strongest first where that is known.
    """
    of = sides(players, games)
    points = {name: sum(side.half_points or 0 for side in own) for name, own in of.items()}
    broken = {name: _tiebreaks(points[name], own, points) for name, own in of.items()}
    ordered = sorted(players, key=lambda name: [-points[name], *(-value for value in broken[name].values())])
    return [_row(rank, name, points[name], of[name], broken[name]) for rank, name in enumerate(ordered, 1)]


def _row(rank: int, name: str, half_points: int, own: list[Side], tiebreaks: dict[str, float]) -> Row:
    ends = [side.half_points for side in own if side.played]
    return Row(rank, name, half_points / 2, len(ends), ends.count(2), ends.count(1), ends.count(0), tiebreaks)


def _tiebreaks(mine: int, own: list[Side], points: Mapping[str, int]) -> dict[str, float]:
    """Return a player's tie-breaks, in the order in which they apply."""
    met = [(side.half_points or 0, points[side.opponent]) for side in own if side.played]
    return {
        "S-B": sum(got * theirs for got, theirs in met) / 4,
        "Direct": sum(got for got, theirs in met if theirs == mine) / 2,
        "Wins": float(sum(got == 2 for got, _ in met)),
    }


# --- Tables -----------------------------------------------------------------------------------------------------


def crosstable(players: Sequence[str], games: Iterable[Game]) -> Table:
    """Return the crosstable: a column for each opponent, in the order of the standings, which holds the results of all
    games of the two in the order given.
    """
    games = list(games)
    rows, of = standings(players, games), sides(players, games)
    columns = ["#", "Player", "Points", "Games", *map(str, range(1, len(rows) + 1)), *TIEBREAKS]
    cells = [[_against(of[row.name], row.name, other.name) for other in rows] for row in rows]
    return Table(columns, [_line(row, between) for row, between in zip(rows, cells, strict=True)])


def _line(row: Row, between: list[str]) -> list[str]:
    start = [str(row.rank), row.name, halves(row.points), str(row.games)]
    return [*start, *between, *map(halves, row.tiebreaks.values())]


def _against(own: list[Side], name: str, other: str) -> str:
    return "×" if name == other else "".join(map(_sign, (side for side in own if side.opponent == other)))


def _sign(side: Side) -> str:
    if side.half_points is None:
        return "·"
    return "0½1"[side.half_points] if side.played else "+" if side.half_points else "-"


def halves(value: float) -> str:
    """Return points as people write them: 0, ½, 1, 1½; quarters stay decimals."""
    whole, part = divmod(value, 1)
    if part == 0.5:
        return f"{int(whole) or ''}½"
    return f"{value:g}"


def drawn_table(table: Table, title: str | None = None) -> str:
    """Return a table as text, as wide as it is; markup characters in players' names are printed as they are."""
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(title=None if title is None else Text(title), title_justify="left")
    for column in table.columns:
        drawn.add_column(column, justify="left" if column == "Player" else "right", no_wrap=True)
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    out = io.StringIO()
    Console(file=out, width=WIDEST, no_color=True, force_terminal=False).print(drawn)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def csv_text(table: Table) -> str:
    """Return RFC 4180 values with LF line ends, in UTF-8: points as decimals, games as in the text table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    numbers = [index for index, name in enumerate(table.columns) if name in ("Points", *TIEBREAKS)]
    for row in table.rows:
        writer.writerow([_decimal(cell) if index in numbers else cell for index, cell in enumerate(row)])
    return out.getvalue()


def _decimal(text: str) -> str:
    return f"{text.removesuffix('½') or 0}.5" if text.endswith("½") else text
