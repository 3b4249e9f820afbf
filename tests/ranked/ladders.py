"""Simulated players of known strengths, who are paired and rated like real ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

import chess

from gmd.event_log.interface import RankedResult
from gmd.lobby.matchmaker import Candidate, pair
from gmd.lobby.results import Entrant, Record
from gmd.lobby.strengths import Rating, estimate, expected

#: The probability of a draw between equals: about that between good players of blind chess.
DRAWS = 0.1


def rate(record: Record, anchors: Mapping[int, float] | None = None) -> dict[Entrant, Rating]:
    """Return the ratings of a record."""
    computing = estimate(record.opponents(), anchors or {})
    while True:
        try:
            next(computing)
        except StopIteration as stop:
            found: dict[Entrant, Rating] = stop.value
            return found


class Simulation:
    """A simulation of rounds of games, in which players are rated only by the games that they have played.

    :ivar results: the results of all games, in order.
    """

    def __init__(
        self, strengths: Mapping[int, float], anchors: Mapping[int, float], random: Random, room: int = 2
    ) -> None:
        self._strengths, self._anchors, self._random, self._room = strengths, anchors, random, room
        self.results: list[RankedResult] = []
        self.record = Record()
        self._whites: Counter[tuple[int, int]] = Counter()

    def in_hand(self, one: int, other: int) -> int:
        return 0

    def whites(self, one: int, other: int) -> int:
        return self._whites[one, other]

    def just_met(self, one: int, other: int) -> bool:
        return False

    def play_round(self) -> None:
        """Play a game for each place that the players have."""
        ratings = rate(self.record, self._anchors)
        candidates = []
        for player in self._strengths:
            known = ratings.get(Entrant(player, 1), Rating())
            candidates.append(Candidate(player, self._room, known.rating, known.deviation, self._random.randrange(9)))
        for white, black in pair(candidates, self, self._random):
            self._whites[white, black] += 1
            result = RankedResult(white, 1, black, 1, self._draw_winner(white, black))
            self.results.append(result)
            self.record.add(result)

    def _draw_winner(self, white: int, black: int) -> chess.Color | None:
        """Draw a winner at random; None for a draw.

        A draw takes the same share from the chances of a win and of a loss, so that the expected points are the
        model's.
        """
        points = expected(self._strengths[white], self._strengths[black])
        draw = DRAWS * 4 * points * (1 - points)
        chance = self._random.random()
        if chance < draw:
            return None
        return chance < draw / 2 + points
