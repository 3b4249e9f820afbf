"""The result of a match: a sentence, its last line, and the lines above it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import click

from ..crosstable import Table, crosstable, drawn_table, halves, standings
from ..sprt import Sprt
from ..statistics import (
    FEW,
    Interval,
    Sample,
    elo_difference,
    elo_interval,
    likelihood_of_superiority,
    more_alike,
    next_goal,
    score_interval,
)
from .openings import START
from .record import Record
from .summary import FAULTS, Meeting, endings, faults, half_points, meeting, meetings, table_games

#: How good the result is for the first bot, which sets its colour.
Tone = Literal["good", "bad", "open"]

#: The least number of games that are checked for repetitions.
MANY = 4


@dataclass(frozen=True)
class Verdict:
    """A sentence, without a full stop, and its tone for the first bot."""

    text: str
    tone: Tone


def verdict(records: Sequence[Record], labels: Sequence[str], sprt: Sprt | None) -> Verdict:
    """Return what the games show about the bots.

    :param records: at least one game.
    """
    if len(labels) == 2:
        found = of_two(meeting(records, *labels), sprt)
    elif all(meeting(records, *pair).games.size == 0 for pair in combinations(labels[1:], 2)):
        found = of_gauntlet(records, labels)
    else:
        found = of_table(records, labels)
    if different := repeats(records):
        text = f"not decided: the {len(records)} games repeat {_games(different)}; give {_openings_to_give(records)}"
        found = Verdict(text, "open")
    return Verdict("; ".join([found.text, *fault_clause(records, labels)]), found.tone)


def of_two(two: Meeting, sprt: Sprt | None) -> Verdict:
    """Return what the games of two bots show."""
    if two.games.size == 0:
        return Verdict(f"not decided: {two.one} and {two.other} have not met", "open")
    return of_difference(two) if sprt is None else of_test(two, sprt)


def of_difference(two: Meeting) -> Verdict:
    """Return which of two is stronger; where the games do not show it, how many games would."""
    side, sample = two.shown, two.sample
    if side is None and (all_alike := _all_alike(two)):
        return Verdict(f"not decided: {all_alike}", "open")
    if side is None:
        goal, more = next_goal(sample)
        scored = f"{two.one} scored {percent(two.games.mean)} in {_games(two.games.size)}{_elo_clause(two)}"
        tells = f"about {_round(more)} more games would show a difference of {goal:g} Elo"
        return Verdict(f"not decided: {scored}; {tells}", "open")
    text = f"{two.one} is {side} than {two.other}: {elo_text(two)}{_sure_clause(two)}"
    return Verdict(text, "good" if side == "stronger" else "bad")


def _all_alike(two: Meeting) -> str:
    """Return what is known where the first bot has won all games, or lost all; else nothing."""
    wins, _, losses = two.wins_draws_losses
    if two.games.size not in (wins, losses):
        return ""
    side = "stronger" if wins else "weaker"
    clause = elo_text(two).removeprefix("it ")
    return f"{two.one} {clause}; {_games(more_alike(two.exact), 'more ')} like that would show that it is {side}"


def of_test(two: Meeting, sprt: Sprt) -> Verdict:
    """Return how a sequential test ended, in words; where it has not, how many games it takes."""
    decided = sprt.verdict(two.sample) if two.sample.size else None
    if decided is None:
        left = f"about {_round(sprt.games_left(two.sample))} more are expected at most"
        return Verdict(f"not decided: the test goes on after {_games(two.games.size)}; {left}", "open")
    error, bound = (sprt.alpha, sprt.elo0) if decided == "H1" else (sprt.beta, sprt.elo1)
    name = "" if sprt.model == "logistic" else f"{sprt.model} "
    passes, tone = ("passes", "good") if decided == "H1" else ("fails", "bad")
    means = _than(bound, f"{name}Elo", two.other, more=decided == "H1")
    text = f"{two.one} {passes} the test: {means} (error rate {100.0 * error:g} %), after {_games(two.games.size)}"
    return Verdict(text + _elo_clause(two), tone)  # type: ignore[arg-type]


def of_gauntlet(records: Sequence[Record], labels: Sequence[str]) -> Verdict:
    """Return how the first bot compares with each of the others, each pair by itself."""
    found: dict[str, list[str]] = {"stronger than": [], "weaker than": [], "not decided against": []}
    for other in labels[1:]:
        side = meeting(records, labels[0], other).shown
        found["not decided against" if side is None else f"{side} than"].append(other)
    clauses = [f"{what} {_and(others)}" for what, others in found.items() if others]
    tone: Tone = "open" if found["not decided against"] else "bad" if found["weaker than"] else "good"
    return Verdict(f"{labels[0]} is {', '.join(clauses)}", tone)


def of_table(records: Sequence[Record], labels: Sequence[str]) -> Verdict:
    """Return which of several bots is the strongest: its games against each of the others must show it."""
    points = {label: sum(_halves_of(records, label)) for label in labels}
    played = {label: len(_halves_of(records, label)) for label in labels}
    leader, *others = sorted(
        labels, key=lambda label: (-points[label] / max(1, 2 * played[label]), labels.index(label))
    )
    scored = f"{halves(points[leader] / 2)} of {played[leader]} points"
    open_against = [other for other in others if meeting(records, leader, other).shown != "stronger"]
    if not open_against:
        return Verdict(f"{leader} is the strongest: {scored}, stronger than {_and(others)}", "good")
    behind = f"{others[0]} has {halves(points[others[0]] / 2)} of {played[others[0]]}"
    lead = f"{leader} leads with {scored}, {behind}; not decided against {_and(open_against)}"
    return Verdict(f"not decided which is the strongest: {lead}", "open")


def repeats(records: Iterable[Record]) -> int | None:
    """Return how many games differ, if at most half do; games that ended by a bot's fault are not counted.

    Games differ if they have other bots, other colours, another start or other moves: two bots that play alike play
    both games of a pair the same, and neither repeats the other.
    """
    games = [_identity(record) for record in records if record["ending"] not in FAULTS]
    different = len(set(games))
    return different if len(games) >= MANY and 2 * different <= len(games) else None


def _identity(record: Record) -> tuple[Any, ...]:
    """Return the facts that are equal in two games if one repeats the other. Two openings of a file may be the same."""
    return record["white"], record["black"], record["start_fen"], *record["moves"]


def _openings_to_give(records: Iterable[Record]) -> str:
    return "--openings" if all(record["opening"] == START for record in records) else "more openings"


def fault_clause(records: Sequence[Record], labels: Sequence[str]) -> list[str]:
    """Return clauses that say how many games a bot's fault decided, if any."""
    lost = {label: sum(faults(records, label).values()) for label in labels}
    return [f"{label} lost {count} of its games by faults" for label, count in lost.items() if count]


def _halves_of(records: Sequence[Record], label: str) -> list[int]:
    return [half_points(record, label) for record in records if label in (record["white"], record["black"])]


def _than(elo: float, unit: str, other: str, *, more: bool) -> str:
    """Return the statement that a difference is above, or below, a number."""
    if elo == 0:
        return f"{'stronger' if more else 'not stronger'} than {other}"
    above = elo > 0
    amount = "more" if more is above else "less"
    return f"{amount} than {abs(elo):g} {unit} {'stronger' if above else 'weaker'} than {other}"


def elo_text(two: Meeting) -> str:
    """Return the estimate with its interval; where all games were won, or lost, the bound."""
    interval = elo_difference(two.estimated)
    if interval is not None:
        return f"Elo {_signed(interval.value)} ({_signed(interval.low)} to {_signed(interval.high)})"
    score = score_interval(two.games)
    assert score is not None  # there are games
    bound = elo_interval(score)
    games = "its only game" if two.games.size == 1 else f"all {_games(two.games.size)}"
    if score.value == 1.0:
        return f"it won {games}, Elo above {_signed(bound.low)}"
    return f"it lost {games}, Elo below {_signed(bound.high)}"


def _elo_clause(two: Meeting) -> str:
    """Return the estimate as a clause; empty where all games are alike, and the score says it."""
    interval: Interval | None = elo_difference(two.estimated)
    return "" if interval is None else f", {elo_text(two)}"


def _sure_clause(two: Meeting) -> str:
    """Return the likelihood of superiority as a clause, or that there are too few games for one.

    It is empty where all games are alike.
    """
    likelihood, few = likelihood_of_superiority(two.sample), few_text(two)
    return "" if likelihood is None else f", {few}" if few else f", LOS {percent(likelihood)}"


def few_text(two: Meeting) -> str:
    """Return that there are too few games for an interval by mean and variance, which is too narrow; else nothing."""
    sample = two.sample
    if sample.size >= FEW or elo_difference(two.estimated) is None:
        return ""
    return f"a rough figure from fewer than {FEW * sample.games_each} games"


def _signed(elo: float, digits: int = 0) -> str:
    """Return a number with its sign, if it is not 0."""
    if math.isinf(elo):
        return "∞" if elo > 0 else "-∞"
    return "0" if digits == 0 and round(elo) == 0 else f"{elo:+z.{digits}f}"


def percent(share: float) -> str:
    """Return a percentage to a tenth; never 100 where it is less."""
    return f"{min(share, 0.999) if share < 1.0 else 1.0:.1%}".replace("%", " %")


def _games(count: int, which: str = "") -> str:
    return f"{count:,} {which}game{'' if count == 1 else 's'}"


def _round(count: int) -> str:
    """Return a number rounded up to two digits, its precision."""
    unit = 10 ** max(0, len(str(count)) - 2)
    return f"{math.ceil(count / unit) * unit:,}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# --- The lines above ---------------------------------------------------------------------------------------------


#: The most games of two bots that a cell of a crosstable shows one by one.
MOST_IN_CELL = 8


def summary_text(records: Sequence[Record], labels: Sequence[str], sprt: Sprt | None) -> str:
    """Return the whole result."""
    if not records:
        return "no game was played\n"
    lines: list[str] = []
    if len(labels) > 2:
        lines.append(drawn_table(match_table(records, labels)))
    for two in meetings(records, labels).values():
        lines += lines_of(two) if two.games.size else []
    if sprt is not None:
        lines.append(sprt_line(sprt, meeting(records, *labels).sample))
    lines += ending_lines(records, labels)
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
        interval = f"{_signed(elo.value, 1)} ({_signed(elo.low, 1)} to {_signed(elo.high, 1)})"
        lines.append(f"Elo: {interval}, {few_text(two) or f'LOS: {percent(likelihood)}'}")
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


def ending_lines(records: Sequence[Record], labels: Sequence[str]) -> list[str]:
    """Return lines about how the games ended, and whose fault it was."""
    found: list[tuple[str, Mapping[str, Any]]] = [("games ended by", endings(records))]
    found += [(f"{label} lost by", faults(records, label)) for label in labels]
    return [f"{what}: {counted(counts)}" for what, counts in found if counts]
