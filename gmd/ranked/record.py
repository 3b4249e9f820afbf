"""What the finished ranked games come to: who won how often against whom. The order of the games is not in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import chess

from gmd.event_log.interface import RankedResult

#: The winners in the order in which :class:`Score` has them from White's side.
_WINNERS = (chess.WHITE, None, chess.BLACK)


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
    """How often everybody did what against everybody, with either colour, and who had White how often.

    :ivar games: how many games it counts.
    """

    def __init__(self, results: Iterable[RankedResult] = ()) -> None:
        self.games = 0
        self._scores: dict[Entrant, dict[Entrant, Score]] = {}
        self._totals: dict[Entrant, Score] = {}
        self._whites: dict[tuple[int, int], int] = {}
        for result in results:
            self.add(result)

    def add(self, result: RankedResult) -> None:
        """Count games; with a negative number of them, count them no more."""
        white, black = Entrant(result.white, result.white_version), Entrant(result.black, result.black_version)
        new = Score(*(result.games if result.winner == each else 0 for each in _WINNERS))
        if white == black or not new.games:
            return  # it says nothing about anybody
        self.games += new.games
        self._count(white, black, new)
        self._count(black, white, new.turned())
        pair = white.player, black.player
        self._whites[pair] = self._whites.get(pair, 0) + new.games

    def _count(self, one: Entrant, other: Entrant, new: Score) -> None:
        scores = self._scores.setdefault(one, {})
        scores[other] = scores.get(other, Score()).plus(new)
        self._totals[one] = self._totals.get(one, Score()).plus(new)
        if not scores[other].games:
            del scores[other]
        if not scores:
            del self._scores[one], self._totals[one]

    def whites(self, player: int, opponent: int) -> int:
        """How many games a player has had White in against another, whatever their versions."""
        return self._whites.get((player, opponent), 0)

    def opponents(self) -> dict[Entrant, dict[Entrant, Score]]:
        """Everybody's score against everybody it has met, as of now, in no order."""
        return {entrant: dict(scores) for entrant, scores in self._scores.items()}

    def totals(self) -> dict[Entrant, Score]:
        """Everybody's score, as of now."""
        return dict(self._totals)
