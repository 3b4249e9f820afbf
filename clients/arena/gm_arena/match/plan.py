"""The games of a match: who plays whom, with which colours, from which opening. They depend only on the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..schedule import Pairing, gauntlet, round_robin
from .openings import Opening

Kind = Literal["round-robin", "gauntlet"]


@dataclass(frozen=True)
class Fixture:
    """A planned game.

    :ivar number: from 1, in the order of the match.
    :ivar white: number of a bot, from 0; likewise ``black``.
    :ivar encounter: how often these two have met before.
    :ivar pair: the same for the two games from one opening with colours swapped; None where openings are not repeated.
    """

    number: int
    white: int
    black: int
    encounter: int
    opening: Opening
    pair: tuple[int, int, int] | None

    @property
    def bots(self) -> tuple[int, int]:
        """The numbers of White and Black."""
        return self.white, self.black


def fixtures(bots: int, games: int, openings: Sequence[Opening], *, repeat: bool, kind: Kind) -> list[Fixture]:
    """Return all games.

    Any two who meet play the same openings, in the same order, so that all pairings are equally hard.

    :param games: how many games any two who meet play, with alternating colours.
    :param repeat: whether to play each opening twice, with colours swapped.
    :param kind: in a gauntlet the first bot meets all the others.
    """
    rounds = round_robin(bots, games) if kind == "round-robin" else gauntlet(bots, 1, games)
    met: dict[tuple[int, ...], int] = {}
    planned: list[Fixture] = []
    for pairing in _in_order(rounds, by_two=repeat):
        two = tuple(sorted(pairing))
        encounter = met.get(two, 0)
        met[two] = encounter + 1
        opening = openings[(encounter // 2 if repeat else encounter) % len(openings)]
        pair = (two[0], two[1], encounter // 2) if repeat else None
        planned.append(Fixture(len(planned) + 1, *pairing, encounter, opening, pair))
    return planned


def _in_order(rounds: list[list[Pairing]], *, by_two: bool) -> list[Pairing]:
    """Return the games in sequence; the two of a pair are adjacent, so that a match that ends early has whole pairs."""
    games = [pairing for games in rounds for pairing in games]
    if not by_two:
        return games
    half = len({tuple(sorted(pairing)) for pairing in games})  # games in a cycle
    cycles = [games[start : start + half] for start in range(0, len(games), half)]
    ordered = []
    for first, second in zip(cycles[::2], [*cycles[1::2], []], strict=False):
        returned = {tuple(sorted(pairing)): pairing for pairing in second}
        for pairing in first:
            ordered.append(pairing)
            if tuple(sorted(pairing)) in returned:
                ordered.append(returned[tuple(sorted(pairing))])
    return ordered
