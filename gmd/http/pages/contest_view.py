"""What pages show of contests: the lists, and one contest with its table, its numbers and its curves. It is pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from gm_protocol.contests import ContestGame, ContestInterval, ContestPlayer, ContestPoint, ContestReport, ContestSprt
from gmd.event_log.utc import write_time
from gmd.http.pages.chart import Chart, Level, Line, chart
from gmd.lobby.contests import Contest

#: Seconds without a report after which a contest that runs is taken to be interrupted.
SILENT_SECONDS = 600.0
#: The range of Elo that a curve shows: first results alone say far more than they mean.
ELO_SHOWN = (-500.0, 500.0)
#: The most rows of the table beside the curves.
MOST_ROWS = 40

#: The cell of a player against itself.
ITSELF = "×"

State = Literal["running", "interrupted", "stopped", "over"]

#: Returns a player's name on this server.
Naming = Callable[[int | None], str | None]


@dataclass(frozen=True, slots=True)
class ContestLine:
    """A contest in a list.

    :ivar games: how many games are over, of how many.
    :ivar by: who reports it; ``player``: that player, if it is registered.
    :ivar is_operators: whether the operator reports it.
    """

    contest_id: int
    title: str
    form: str
    variant: str
    state: State
    games: str
    by: str
    player: int | None
    is_operators: bool
    changed: str


@dataclass(frozen=True, slots=True)
class GameRow:
    """A game of a contest."""

    game_id: int
    white: ContestPlayer
    black: ContestPlayer
    result: str


@dataclass(frozen=True, slots=True)
class ContestView:
    """What a contest's page shows.

    :ivar elo, llr: the curves; None where there are no points.
    :ivar points: some of the curve's points, for the table of figures.
    """

    line: ContestLine
    report: ContestReport
    began: str
    elo: Chart | None
    llr: Chart | None
    points: list[ContestPoint]
    games: list[GameRow]

    @property
    def is_cross(self) -> bool:
        """Whether the table has a column for each player, in the order of the rows."""
        players, columns = self.report.players, self.report.columns
        return columns == [f"{place}" for place in range(1, len(players) + 1)] and all(
            row.cells[index : index + 1] == [ITSELF] for index, row in enumerate(players)
        )

    def games_of(self, row: ContestPlayer, index: int) -> str:
        """Return the address of the games between the player of a row and that of a column; empty for none."""
        other = self.report.players[index] if self.is_cross else row
        if None in (row.player, other.player) or row.player == other.player:
            return ""
        return f"/games?player={row.player}&opponent={other.player}"

    @property
    def refreshes(self) -> bool:
        """Whether the page may change soon."""
        return self.line.state == "running"


def lines_of(contests: Iterable[Contest], now: float, name_of: Naming) -> list[ContestLine]:
    """Return contests as lists show them."""
    return [line_of(contest, now, name_of) for contest in contests]


def line_of(contest: Contest, now: float, name_of: Naming) -> ContestLine:
    """Return a contest as lists show it.

    :param now: seconds since 1970.
    """
    summary, owner = contest.summary, contest.owner
    by = name_of(owner.player) if owner.player is not None else "the operator" if owner.operator else "a guest"
    return ContestLine(
        contest.contest_id,
        summary.title,
        summary.form,
        summary.variant,
        state_of(contest, now),
        f"{summary.games}" if summary.planned is None else f"{summary.games} of {summary.planned}",
        by or f"player {owner.player}",
        owner.player,
        owner.operator,
        write_time(contest.changed),
    )


def state_of(contest: Contest, now: float) -> State:
    """Return whether a contest runs; one whose runner says nothing any more is interrupted."""
    status = contest.summary.status
    return "interrupted" if status == "running" and now - contest.changed > SILENT_SECONDS else status


def contest_view(contest: Contest, now: float, name_of: Naming) -> ContestView:
    """Return what a contest's page shows."""
    report = contest.report
    return ContestView(
        line_of(contest, now, name_of),
        report,
        write_time(contest.began),
        elo_curve(report),
        llr_curve(report),
        thinned(report.curve, MOST_ROWS),
        [_game(game, report) for game in report.latest],
    )


def _game(game: ContestGame, report: ContestReport) -> GameRow:
    return GameRow(game.game_id, report.players[game.white], report.players[game.black], game.result or "")


def elo_curve(report: ContestReport) -> Chart | None:
    """Return the curve of the first player's Elo with its interval."""
    known = [point for point in report.curve if point.elo is not None]
    points = [(float(point.games), point.elo) for point in known if point.elo is not None]
    band = [
        (float(point.games), point.low, point.high)
        for point in known
        if point.low is not None and point.high is not None
    ]
    first = report.players[0].name
    words = f"Curve of the Elo difference of {first} over the games"
    return chart(
        f"Elo of {first} with its 95 % interval",
        [Line("Elo", points, band)],
        x_label="Games",
        y_label="Elo",
        words=f"{words}: now {interval_text(report.elo)}." if report.elo is not None else f"{words}.",
        levels=[Level("", 0.0)],
        limits=ELO_SHOWN,
    )


def llr_curve(report: ContestReport) -> Chart | None:
    """Return the curve of the sequential test's log-likelihood ratio, between its bounds."""
    test = report.sprt
    if test is None:
        return None
    points = [(float(point.games), point.llr) for point in report.curve if point.llr is not None]
    return chart(
        "Log-likelihood ratio of the sequential test",
        [Line("LLR", points)],
        x_label="Games",
        y_label="LLR",
        words=f"Curve of the log-likelihood ratio over the games: now {ratio_text(test.llr)}, "
        f"between {ratio_text(test.lower)} and {ratio_text(test.upper)}.",
        levels=[
            Level(f"H1 accepted: Elo {number_text(test.elo1)} ({ratio_text(test.upper)})", test.upper),
            Level(f"H0 accepted: Elo {number_text(test.elo0)} ({ratio_text(test.lower)})", test.lower),
        ],
    )


def thinned(points: Sequence[ContestPoint], most: int) -> list[ContestPoint]:
    """Return points at equal distances, the first and the last among them."""
    if len(points) <= most:
        return list(points)
    return [points[round(number * (len(points) - 1) / (most - 1))] for number in range(most)]


def number_text(value: float | None) -> str:
    """Return a number with its sign, to a tenth if it is small; "–" for none."""
    if value is None:
        return "–"
    rounded = f"{value:.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.1f}"
    return rounded.replace("-", "\N{MINUS SIGN}")


def ratio_text(value: float | None) -> str:
    """Return a log-likelihood ratio; "–" for none."""
    return "–" if value is None else f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def interval_text(interval: ContestInterval | None) -> str:
    """Return an estimate with its 95 % interval, as in "35 (12 to 58)"."""
    if interval is None:
        return "–"
    return f"{number_text(interval.value)} ({number_text(interval.low)} to {number_text(interval.high)})"


def share_text(interval: ContestInterval) -> str:
    """Return a score with its interval as percentages."""
    low, value, high = (f"{100 * end:.1f} %" for end in (interval.low, interval.value, interval.high))
    return f"{value} ({low} to {high})"


def points_text(points: float) -> str:
    """Return points as people write them: 0, ½, 1, 1½."""
    whole, half = divmod(points, 1)
    return f"{int(whole) or ''}½" if half == 0.5 else f"{points:g}"


def verdict_text(test: ContestSprt) -> str:
    """Return what a sequential test has found so far."""
    if test.accepted is None:
        return "not decided yet"
    return f"{test.accepted} accepted: Elo {number_text(test.elo1 if test.accepted == 'H1' else test.elo0)}"
