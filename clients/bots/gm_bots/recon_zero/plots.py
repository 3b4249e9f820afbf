"""Plots of a training, from its log: the network's losses, and its scores, also against the members of its league."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gm_arena.extras import new_figure
from gm_arena.statistics import Sample, score_interval

from .older import BEFORE

Line = dict[str, Any]

LOG, LOSS, WIN_RATE, LEAGUE = "log.jsonl", "loss.png", "win-rate.png", "league.png"

#: Inches, and dots per inch: 1200 x 675 in all, which a page shows at full size.
SIZE, DOTS = (8.0, 4.5), 150

#: Iterations in a moving average: with a handful of games in each, chance would hide what was learnt.
SPAN = 10


class BadLog(ValueError):
    """A directory has no log of a training that could be plotted."""


def draw(directory: Path) -> list[Path]:
    """Draw the plots of the training in a directory, into the directory; return their files.

    Each file is replaced atomically, since a training keeps drawing them.

    :raises BadLog: there is no log, or nothing in it.
    :raises OSError: the files cannot be written.
    """
    lines = read_log(directory / LOG)
    drawers: dict[str, Callable[[Any, Sequence[Line]], None]] = {LOSS: draw_loss, WIN_RATE: draw_win_rate}
    if any(line.get("league") for line in lines):
        drawers[LEAGUE] = draw_league
    return [_drawn(directory / name, drawer, lines) for name, drawer in drawers.items()]


def read_log(path: Path) -> list[Line]:
    """Return the log's iterations.

    :raises BadLog: there are none.
    """
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise BadLog(f"{path} is not a log of a training: {error}") from None
    if not lines or not all(isinstance(line, dict) and "policy_loss" in line for line in lines):
        raise BadLog(f"{path} is not a log of a training: it has no line with losses for each iteration")
    return lines


def _drawn(path: Path, drawer: Callable[[Any, Sequence[Line]], None], lines: Sequence[Line]) -> Path:
    figure = new_figure(*SIZE)
    drawer(figure, lines)
    partial = path.with_name(f".{path.name}")
    figure.savefig(partial, dpi=DOTS, format="png")
    partial.replace(path)
    return path


def draw_loss(figure: Any, lines: Sequence[Line]) -> None:
    """Plot the two parts of the loss, one below the other, since they have different units."""
    iterations = [line["iteration"] for line in lines]
    policy, value = figure.subplots(2, 1, sharex=True)
    policy.set(ylabel="divergence, nats", title="Policy: Kullback-Leibler divergence from what the search found")
    value.set(ylabel="squared error", xlabel="iteration", title="Value: mean squared error")
    for axes, name, color in ((policy, "policy_loss", "C0"), (value, "value_loss", "C1")):
        axes.plot(iterations, [line[name] for line in lines], color=color, marker=_marker(lines), markersize=3)
        axes.set_ylim(bottom=0)
        _finish(axes)


def draw_win_rate(figure: Any, lines: Sequence[Line]) -> None:
    """Plot the scores against a random mover and against older networks: each iteration's as a point, and that of the
    last iterations with its interval.
    """
    axes = figure.subplots()
    _draw_shares(axes, lines, "points_against_random", "matches", "against a random mover", "C0")
    older = f"against itself, {BEFORE} iterations before"
    _draw_shares(axes, lines, "points_against_older", "matches_older", older, "C1")
    axes.axhline(50, color="grey", linewidth=0.8, linestyle="--")
    axes.set(xlabel="iteration", ylabel="share of the points, %", ylim=(-3, 103))
    axes.set_title(f"Matches of each iteration (dots), and of the last {SPAN} with their 95 % interval")
    if axes.get_legend_handles_labels()[1]:
        figure.legend(loc="outside lower center", ncols=2)
    _finish(axes)


def draw_league(figure: Any, lines: Sequence[Line]) -> None:
    """Plot the scores against the league: against all with its interval, and against each member."""
    axes = figure.subplots()
    _draw_shares(axes, [_against(line, None) for line in lines], "points", "games", "against all", "black")
    names = dict.fromkeys(_group(name) for line in lines for name in line.get("league") or ())
    for number, name in enumerate(sorted(names)):
        played = [each for line in lines if (each := _against(line, name))["games"]]
        scores = [100 * interval(played[max(0, end - SPAN) : end], "points", "games")[0] for end in _ends(played)]
        axes.plot(
            [each["iteration"] for each in played], scores, color=f"C{number}", label=f"against {name}", marker="."
        )
    axes.axhline(50, color="grey", linewidth=0.8, linestyle="--")
    axes.set(xlabel="iteration", ylabel="share of the points, %", ylim=(-3, 103))
    axes.set_title(f"Games against the league: of the last {SPAN} iterations, and against all of each (dots)")
    figure.legend(loc="outside lower center", ncols=3)
    _finish(axes)


def _group(name: str) -> str:
    """Return a member's name in the plot: the training's earlier networks share one."""
    return "its earlier networks" if name.startswith("iteration-") else name


def _against(line: Line, member: str | None) -> Line:
    """Return an iteration's points and games against a member of the league, or against all."""
    league: dict[str, Sequence[int]] = line.get("league") or {}
    met = [results for name, results in league.items() if member in (None, _group(name))]
    won, drawn, lost = (sum(each[index] for each in met) for index in range(3))
    games = won + drawn + lost
    return {"iteration": line["iteration"], "games": games, "points": (won + drawn / 2) / games if games else None}


def _ends(played: Sequence[Line]) -> range:
    return range(1, len(played) + 1)


def _draw_shares(axes: Any, lines: Sequence[Line], points: str, games: str, label: str, color: str) -> None:
    played = [line for line in lines if line.get(points) is not None and line.get(games)]
    if not played:
        return
    iterations = [line["iteration"] for line in played]
    axes.plot(iterations, [100 * line[points] for line in played], ".", color=color, alpha=0.35)
    intervals = [interval(played[max(0, end - SPAN) : end], points, games) for end in _ends(played)]
    middle, low, high = ([100 * each[index] for each in intervals] for index in range(3))
    axes.plot(iterations, middle, color=color, linewidth=2, label=label, marker=_marker(played), markersize=3)
    axes.fill_between(iterations, low, high, color=color, alpha=0.15, linewidth=0)


def interval(lines: Sequence[Line], points: str, games: str) -> tuple[float, float, float]:
    """Return the score in the games of some iterations, and the ends of its interval."""
    half_points = round(sum(2 * line[points] * line[games] for line in lines))
    number = sum(line[games] for line in lines)
    # The log does not have the number of draws, and the interval does not need it: it depends on the score alone.
    won, drawn = divmod(half_points, 2)
    found = score_interval(Sample((number - won - drawn, drawn, won)))
    assert found is not None
    return found.value, found.low, found.high


def _marker(lines: Sequence[Line]) -> str:
    """Return a marker: a line of one point would be invisible, and one of many points is clearer without."""
    return "o" if len(lines) < 30 else ""


def _finish(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
