"""The settings of a tournament and its next games, which follow from the events so far alone."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

from ..schedule import Pairing, gauntlet, round_robin

Format = Literal["round-robin", "gauntlet"]
FORMATS: tuple[Format, ...] = get_args(Format)

#: Why a game was not played: a player was away.
ABSENT = "absent"


class Entrant(NamedTuple):
    """A registered player who takes part."""

    id: int
    name: str


@dataclass(frozen=True)
class Settings:
    """The settings of a tournament, which never change.

    :ivar id: a random id; the games' tokens begin with it.
    :ivar players: in the order of their strength, where that is known; in a gauntlet the challenger comes first.
    :ivar games: how many games two players who meet have with each other.
    :ivar terms: the games' fields of ``new_game``.
    :ivar absence: seconds that a player may be away before it forfeits the games that wait for it.
    :ivar seed: the seed of all random choices.
    """

    name: str
    id: str
    format: Format
    players: tuple[Entrant, ...]
    games: int = 1
    terms: Mapping[str, Any] = field(default_factory=dict)
    ranked: bool = False
    absence: float = 600.0
    seed: int = 0


class Key(NamedTuple):
    """The name of a game in a tournament: its round and its number in the round, both from 1."""

    round: int
    number: int

    def __str__(self) -> str:
        return f"{self.round}.{self.number}"


class GameResult(NamedTuple):
    """The outcome of a game: its result as crosstables have it, and the reason."""

    result: str
    reason: str


class Round(NamedTuple):
    """The games of a round, by players' numbers from 0."""

    number: int
    pairings: list[Pairing]

    @property
    def games(self) -> dict[Key, Pairing]:
        """The games of the round, in order."""
        return {Key(self.number, number): pairing for number, pairing in enumerate(self.pairings, 1)}


def next_rounds(settings: Settings, rounds: Sequence[Round]) -> list[Round]:
    """Return the rounds that have not begun; all of them may begin at once."""
    scheduled = _schedule(settings.format, len(settings.players), settings.games)
    return scheduled[len(rounds) :]


@lru_cache(maxsize=1)  # called after each of possibly many thousand games
def _schedule(format_: Format, players: int, games: int) -> list[Round]:
    """Return all rounds of a round robin or a gauntlet."""
    schedule = (gauntlet if format_ == "gauntlet" else round_robin)(players, games)
    return [Round(number, pairings) for number, pairings in enumerate(schedule, 1)]


def total_games(settings: Settings) -> int:
    """Return how many games there will be, if nobody leaves."""
    count = len(settings.players)
    if settings.format == "gauntlet":
        return (count - 1) * settings.games
    return count * (count - 1) // 2 * settings.games


def terms_of(settings: Settings, white: int, black: int) -> dict[str, Any]:
    """Return the terms of two players' games: in Chess960 all start from one position of theirs, drawn by the seed."""
    terms = dict(settings.terms)
    if terms.get("variant") == "chess960" and "position" not in terms:
        drawn = random.Random(f"{settings.seed} {min(white, black)} {max(white, black)}")
        terms["position"] = drawn.randrange(960)
    return terms
