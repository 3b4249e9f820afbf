"""The standing of a match while it is played, in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..crosstable import halves
from ..sprt import Sprt
from ..statistics import elo_difference, likelihood_of_superiority
from .record import Record
from .summary import Meeting, half_points
from .verdict import elo_text, percent

#: Longest label that is shown in full.
WIDEST = 24


class RunningScore:
    """A running count of games."""

    def __init__(self, labels: Sequence[str], sprt: Sprt | None) -> None:
        self._labels, self._sprt = labels, sprt
        self._points, self._meeting = Counter[str](), Meeting(*labels[:2])
        self.games = 0

    def add(self, record: Record) -> None:
        """Count a game."""
        self.games += 1
        self._meeting.add(record)
        for label in (record["white"], record["black"]):
            self._points[label] += half_points(record, label)

    def score(self) -> str:
        """Return how many games the first bot has won, drawn and lost; with more than two bots, who leads."""
        if len(self._labels) == 2:
            wins, draws, losses = self._meeting.wins_draws_losses
            return f"{short(self._labels[0])} +{wins} ={draws} -{losses}"
        ranked = sorted(self._labels, key=lambda label: -self._points[label])[:3]
        leader, *others = (f"{short(label)} {halves(self._points[label] / 2)}" for label in ranked)
        return ", ".join([f"{leader} leads", *others])

    def numbers(self) -> str:
        """Return the score, Elo and the sequential test; empty for more than two bots."""
        two = self._meeting
        if len(self._labels) > 2 or two.games.size == 0:
            return ""
        parts = [percent(two.games.mean)]
        if elo_difference(two.estimated) is not None:
            parts.append(elo_text(two))
        if (likelihood := likelihood_of_superiority(two.sample)) is not None:
            parts.append(f"LOS {percent(likelihood)}")
        if self._sprt is not None:
            llr = self._sprt.llr(two.sample)
            parts.append(f"LLR {llr:.2f} ({self._sprt.lower:.2f}, {self._sprt.upper:.2f})")
        return ", ".join(parts)


def short(label: str) -> str:
    """Return a label, cut if it is long."""
    return label if len(label) <= WIDEST else f"{label[: WIDEST - 1]}…"
