"""The result of a match, as text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ..crosstable import Table, crosstable, drawn_table, halves, output_width, standings
from ..sprt import Sprt
from ..statistics import Sample, elo_difference, likelihood_of_superiority
from .record import Record
from .summary import Meeting, endings, faults, hand_over, meeting, meetings, overhead, table_games
from .verdict import Verdict, percent, verdict

#: The most games of two bots that a cell of a crosstable shows one by one.
MOST_IN_CELL = 8


def summary_text(records: Sequence[Record], labels: Sequence[str], sprt: Sprt | None) -> str:
    """Return the whole result."""
    if not records:
        return "no game was played\n"
    lines: list[str] = []
    if len(labels) > 2:
        lines.append(drawn_table(match_table(records, labels), width=output_width()))
    for two in meetings(records, labels).values():
        lines += lines_of(two) if two.games.size else []
    if sprt is not None:
        lines.append(sprt_line(sprt, meeting(records, *labels).sample))
    lines += ending_lines(records, labels)
    lines += cost_lines(records)
    lines.append(coloured(verdict(records, labels, sprt)))
    return "\n".join(lines) + "\n"


def coloured(found: Verdict) -> str:
    """Return a verdict with terminal colours; ``click.echo`` removes them where there is no terminal."""
    if os.environ.get("NO_COLOR"):
        return found.text
    return click.style(found.text, fg={"good": "green", "bad": "red", "open": None}[found.tone], bold=True)


def match_table(records: Sequence[Record], labels: Sequence[str]) -> Table:
    """Return the crosstable; where two bots have many games, its cells have their points."""
    games = table_games(records)
    met = meetings(records, labels)
    if max((two.games.size for two in met.values()), default=0) <= MOST_IN_CELL:
        return crosstable(labels, games)
    rows = standings(labels, games)
    columns = ["#", "Player", "Points", "Games", *map(str, range(1, len(rows) + 1))]
    cells = [[_between(met, row.name, other.name) for other in rows] for row in rows]
    starts = [[str(row.rank), row.name, halves(row.points), str(row.games)] for row in rows]
    return Table(columns, [start + between for start, between in zip(starts, cells, strict=True)])


def _between(met: Mapping[frozenset[str], Meeting], one: str, other: str) -> str:
    """Return one bot's points of all its games against another."""
    if one == other:
        return "×"
    two = met[frozenset((one, other))]
    won = two.games.counts[-1] if two.one == one else two.games.counts[0]
    return f"{halves(won + two.games.counts[1] / 2)}/{two.games.size}" if two.games.size else ""


def lines_of(two: Meeting) -> list[str]:
    """Return lines about two bots' games."""
    wins, draws, losses = two.wins_draws_losses
    estimated = two.estimated
    share = 100.0 * two.games.mean
    lines = [f"{two.one} against {two.other}: won {wins}, drawn {draws}, lost {losses}; {share:.1f} %"]
    elo, likelihood = elo_difference(estimated), likelihood_of_superiority(estimated)
    if elo is None or likelihood is None:
        lines.append("Elo: unknown, since all results are the same")
    else:
        interval = f"{elo.value:+z.1f} ({elo.low:+z.1f} to {elo.high:+z.1f})"
        lines.append(f"Elo: {interval}, LOS: {percent(likelihood)}")
    if two.pairs.size:
        lines.append(f"Ptnml(0-2): {[*two.pairs.counts]}")
    return lines


def sprt_line(sprt: Sprt, sample: Sample) -> str:
    """Return the state of a sequential test."""
    name = "" if sprt.model == "logistic" else f"{sprt.model} "
    verdict = sprt.verdict(sample) if sample.size else None
    came = {None: "not decided", "H0": f"elo0={sprt.elo0:g} is accepted", "H1": f"elo1={sprt.elo1:g} is accepted"}
    return (
        f"LLR: {sprt.llr(sample):.2f} ({sprt.lower:.2f}, {sprt.upper:.2f}) "
        f"[{name}elo0={sprt.elo0:g}, elo1={sprt.elo1:g}]: {came[verdict]}"
    )


def counted(counts: Mapping[str, int]) -> str:
    """Return counts as text, the most frequent first: ``checkmate 12, time 1``."""
    return ", ".join(f"{what} {count}" for what, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def cost_lines(records: Sequence[Record]) -> list[str]:
    """Return the time taken by the runner, the daemon and the machine: of the bots' time, and between their answers."""
    costs = {
        "overhead a move (charged by the clock, and not thought)": overhead(records),
        "hand-over (from a bot's answer to its opponent's turn)": hand_over(records),
    }
    return [
        f"{what}: median {1e3 * cost.median:z.1f} ms, worst {1e3 * cost.worst:z.1f} ms, of {cost.moves} moves"
        for what, cost in costs.items()
        if cost is not None
    ]


def ending_lines(records: Sequence[Record], labels: Sequence[str]) -> list[str]:
    """Return lines about how the games ended, and whose fault it was."""
    found: list[tuple[str, Mapping[str, Any]]] = [("games ended by", endings(records))]
    found += [(f"{label} lost by", faults(records, label)) for label in labels]
    return [f"{what}: {counted(counts)}" for what, counts in found if counts]
