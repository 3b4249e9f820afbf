"""The settings of a tournament and its next games, which follow from the events so far alone."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

from gm_protocol.endings import Cause, Ending

from ..crosstable import HALF_POINTS, PLAYED
from ..schedule import Pairing, gauntlet, round_robin
from ..swiss import Card, next_round

Format = Literal["round-robin", "gauntlet", "swiss"]
FORMATS: tuple[Format, ...] = get_args(Format)

#: A player who came to no game in so many rounds of a Swiss tournament is not paired again.
ABSENT_ROUNDS = 2
#: Why a game was not played: a player was away, or did not answer the invitation.
ABSENT, UNANSWERED = "absent", Ending(Cause.EXPIRED).termination


class Entrant(NamedTuple):
    """A registered player who takes part."""

    id: int
    name: str


@dataclass(frozen=True)
class Settings:
    """The settings of a tournament, which never change.

    :ivar id: a random id; the games' tokens begin with it.
    :ivar players: in the order of their strength, where that is known; in a gauntlet the challengers come first.
    :ivar games: how many games two players who meet have with each other.
    :ivar rounds: how many rounds a Swiss tournament has.
    :ivar challengers: how many play the gauntlet.
    :ivar terms: the games' fields of ``new_game``.
    :ivar absence: seconds that a player may be away before it forfeits the games that wait for it.
    :ivar seed: the seed of all random choices.
    """

    name: str
    id: str
    format: Format
    players: tuple[Entrant, ...]
    games: int = 1
    rounds: int = 0
    challengers: int = 1
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
    """The games of a round, by players' numbers from 0, and the player who is free by the pairing."""

    number: int
    pairings: list[Pairing]
    bye: int | None = None

    @property
    def games(self) -> dict[Key, Pairing]:
        """The games of the round, in order."""
        return {Key(self.number, number): pairing for number, pairing in enumerate(self.pairings, 1)}


GameResults = Mapping[Key, GameResult]


def next_rounds(settings: Settings, rounds: Sequence[Round], outcomes: GameResults) -> list[Round]:
    """Return the rounds that may begin now, in addition to those begun: in a Swiss tournament one when all before it
    are over, otherwise all at once.

    :return: none, where there are no more or it is too early.
    """
    if settings.format == "swiss":
        done = all(key in outcomes for each in rounds for key in each.games)
        return _swiss_round(settings, rounds, outcomes) if done and len(rounds) < settings.rounds else []
    scheduled = _schedule(settings.format, len(settings.players), settings.challengers, settings.games)
    return scheduled[len(rounds) :]


@lru_cache(maxsize=1)  # called after each of possibly many thousand games
def _schedule(format_: Format, players: int, challengers: int, games: int) -> list[Round]:
    """Return all rounds of a round robin or a gauntlet."""
    is_gauntlet = format_ == "gauntlet"
    schedule = gauntlet(players, challengers, games) if is_gauntlet else round_robin(players, games)
    return [Round(number, pairings) for number, pairings in enumerate(schedule, 1)]


def total_games(settings: Settings) -> int:
    """Return how many games there will be, if nobody leaves."""
    count = len(settings.players)
    if settings.format == "swiss":
        return settings.rounds * (count // 2) * settings.games
    if settings.format == "gauntlet":
        return settings.challengers * (count - settings.challengers) * settings.games
    return count * (count - 1) // 2 * settings.games


def terms_of(settings: Settings, white: int, black: int) -> dict[str, Any]:
    """Return the terms of two players' games: in Chess960 all start from one position of theirs, drawn by the seed."""
    terms = dict(settings.terms)
    if terms.get("variant") == "chess960" and "position" not in terms:
        drawn = random.Random(f"{settings.seed} {min(white, black)} {max(white, black)}")
        terms["position"] = drawn.randrange(960)
    return terms


# --- Swiss ------------------------------------------------------------------------------------------------------


def _swiss_round(settings: Settings, rounds: Sequence[Round], outcomes: GameResults) -> list[Round]:
    gone = absentees(len(settings.players), rounds, outcomes)
    there = [player for player in range(len(settings.players)) if player not in gone]
    if len(there) < 2:
        return []
    cards = swiss_cards(settings, rounds, outcomes)
    first_is_white = random.Random(settings.seed).random() < 0.5
    paired = next_round([_among(cards[player], there) for player in there], first_is_white=first_is_white)
    pairings = [(there[white], there[black]) for white, black in paired.pairings]
    games = [
        (black, white) if game % 2 else (white, black) for white, black in pairings for game in range(settings.games)
    ]
    return [Round(len(rounds) + 1, games, None if paired.bye is None else there[paired.bye])]


def _among(card: Card, there: Sequence[int]) -> Card:
    """Return a card with opponents numbered by their place among the players present."""
    met = type(card.met)({place: card.met[player] for place, player in enumerate(there) if card.met[player]})
    return Card(card.points, met, card.colors, card.had_bye)


def absentees(players: int, rounds: Sequence[Round], outcomes: GameResults) -> set[int]:
    """Return the players who are taken to have left: they came to no game of their latest rounds."""
    gone = set()
    for player in range(players):
        own = [[key for key, pairing in each.games.items() if player in pairing] for each in rounds]
        latest = [keys for keys in own if keys][-ABSENT_ROUNDS:]
        missed = [key for keys in latest for key in keys if _stayed_away(player, key, rounds, outcomes)]
        if len(latest) == ABSENT_ROUNDS and len(missed) == sum(map(len, latest)):
            gone.add(player)
    return gone


def _stayed_away(player: int, key: Key, rounds: Sequence[Round], outcomes: GameResults) -> bool:
    outcome = outcomes[key]
    if outcome.reason not in (ABSENT, UNANSWERED):
        return False
    white, _ = rounds[key.round - 1].games[key]
    return outcome.result in ("-/-", "-/+" if player == white else "+/-")


def swiss_cards(settings: Settings, rounds: Sequence[Round], outcomes: GameResults) -> list[Card]:
    """Return each player's card after all rounds so far."""
    cards = [Card() for _ in settings.players]
    for each in rounds:
        if each.bye is not None:
            cards[each.bye].points += 2 * settings.games
            cards[each.bye].had_bye = True
        meetings: dict[frozenset[int], list[tuple[Pairing, str]]] = {}
        for key, pairing in each.games.items():
            meetings.setdefault(frozenset(pairing), []).append((pairing, outcomes[key].result))
        for games in meetings.values():
            _count_meeting(cards, games)
    return cards


def _count_meeting(cards: list[Card], games: list[tuple[Pairing, str]]) -> None:
    """Count the games of two players in one round. Where each had both colours equally often, no colour counts."""
    for pairing, result in games:
        for player, points in zip(pairing, HALF_POINTS[result], strict=True):
            cards[player].points += points
    (white, black), _ = games[0]
    if any(result in PLAYED for _, result in games):
        for player, other in ((white, black), (black, white)):
            cards[player].met[other] += 1
            if len(games) % 2:
                cards[player].colors.append(player == white)
        return
    for pairing, result in games:
        for player, points in zip(pairing, HALF_POINTS[result], strict=True):
            cards[player].had_bye |= points > 0
