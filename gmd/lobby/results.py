"""A count of the finished ranked games by pair and result, without their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import chess

from gmd.event_log.interface import RankedResult

#: The winners in the order of the fields of White's :class:`Score`.
_WINNERS = (chess.WHITE, None, chess.BLACK)


class Entrant(NamedTuple):
    """A version of a player's bot, which has a rating of its own. Version 0: the player has never begun a version."""

    player: int
    version: int


class Score(NamedTuple):
    """The results of some games from one side's view."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """The points: one for a win, a half for a draw."""
        return self.wins + self.draws / 2

    def plus(self, other: Score) -> Score:
        """Return the sum of both."""
        return Score(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def turned(self) -> Score:
        """Return the same games from the other side's view."""
        return Score(self.losses, self.draws, self.wins)


class Record:
    """The scores of all entrants against each other, with either colour, and how often each player had White.

    :ivar games: the number of games counted.
    """

    def __init__(self, results: Iterable[RankedResult] = ()) -> None:
        self.games = 0
        self._scores: dict[Entrant, dict[Entrant, Score]] = {}
        self._totals: dict[Entrant, Score] = {}
        self._whites: dict[tuple[int, int], int] = {}
        for result in results:
            self.add(result)

    def add(self, result: RankedResult) -> None:
        """Add games; remove them if their number is negative."""
        white, black = Entrant(result.white, result.white_version), Entrant(result.black, result.black_version)
        new = Score(*(result.games if result.winner == each else 0 for each in _WINNERS))
        if white == black or not new.games:
            return  # such games say nothing about ratings
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
        """Return how many games a player had White in against another, over all versions."""
        return self._whites.get((player, opponent), 0)

    def opponents(self) -> dict[Entrant, dict[Entrant, Score]]:
        """Return a copy of all entrants' scores against each of their opponents, in no order."""
        return {entrant: dict(scores) for entrant, scores in self._scores.items()}

    def against(self, entrant: Entrant) -> Mapping[Entrant, Score]:
        """Return an entrant's scores against each of its opponents."""
        return self._scores.get(entrant, {})

    def totals(self) -> dict[Entrant, Score]:
        """Return a copy of all entrants' total scores."""
        return dict(self._totals)
