"""What the finished ranked games come to: who won how often against whom. The order of the games is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gmd.log.interface import RankedResult

#: The results that count, in the order in which :class:`Score` has them from White's side.
_RESULTS = ("1-0", "1/2-1/2", "0-1")


class Entrant(NamedTuple):
    """A version of a player's bot, which is what has a rating. Version 0: the player has never begun one."""

    player: int
    version: int


class Score(NamedTuple):
    """How some games ended, as one side has it."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A win is one, a draw half of one."""
        return self.wins + self.draws / 2

    def plus(self, other: Score) -> Score:
        """Both together."""
        return Score(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def turned(self) -> Score:
        """The same games as the other side has them."""
        return Score(self.losses, self.draws, self.wins)


class Record:
    """How often each entrant, playing White, did what against each other one."""

    def __init__(self, results: Iterable[RankedResult] = ()) -> None:
        self._scores: dict[tuple[Entrant, Entrant], Score] = {}
        self._whites: dict[tuple[int, int], int] = {}
        #: How many games it counts.
        self.games = 0
        for result in results:
            self.add(result)

    def add(self, result: RankedResult) -> None:
        """Count games; with a negative number of them, count them no more."""
        white, black = Entrant(result.white, result.white_version), Entrant(result.black, result.black_version)
        new = Score(*(result.games if result.result == each else 0 for each in _RESULTS))
        if white == black or not new.games:
            return  # it says nothing about anybody, or was called off
        self.games += new.games
        self._scores[white, black] = self._scores.get((white, black), Score()).plus(new)
        if not self._scores[white, black].games:
            del self._scores[white, black]
        pair = white.player, black.player
        self._whites[pair] = self._whites.get(pair, 0) + new.games

    def whites(self, player: int, opponent: int) -> int:
        """How many games a player has had White in against another, whatever their versions."""
        return self._whites.get((player, opponent), 0)

    def opponents(self) -> dict[Entrant, dict[Entrant, Score]]:
        """Everybody's score against everybody it has met, with either colour; in the order of ids and versions."""
        found: dict[Entrant, dict[Entrant, Score]] = {}
        for one, other, score in sorted(self._both_ways()):
            mine = found.setdefault(one, {})
            mine[other] = mine.get(other, Score()).plus(score)
        return found

    def _both_ways(self) -> Iterator[tuple[Entrant, Entrant, Score]]:
        for (white, black), score in self._scores.items():
            yield white, black, score
            yield black, white, score.turned()
