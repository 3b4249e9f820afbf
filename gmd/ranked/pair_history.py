"""Ranked games in progress or not yet accepted, and the pairs of players who have just met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gmd.event_log.interface import Playing
from gmd.games.game_note import GameNote

from .record import Record


class PairHistory:
    """The matchmaker's knowledge of pairs of players (:class:`~gmd.ranked.pairing.Meetings`)."""

    def __init__(self) -> None:
        #: White and Black of each game.
        self._games: dict[int, tuple[int, int]] = {}
        self._whites: Counter[tuple[int, int]] = Counter()
        #: Until when each pair is kept apart, in trio's time; those who met first come first.
        self._met: dict[frozenset[int], float] = {}
        self._record = Record()
        self._apart = False

    def start(self, playing: Iterable[Playing], record: Record) -> None:
        """Begin with the games of the log; ``record`` goes on to count games that end."""
        self._record = record
        self._games.clear()
        self._whites.clear()
        for game_id, white, black in playing:
            assert white is not None
            assert black is not None
            self._put(game_id, (white, black))

    def note(self, game: GameNote, apart_until: float) -> None:
        """Record that a ranked game was made or has ended."""
        black, white = game.named  # False is Black
        if not game.over and game.id not in self._games:
            assert white is not None
            assert black is not None
            self._put(game.id, (white, black))
        elif game.over and (pair := self._games.pop(game.id, None)) is not None:
            self._whites[pair] -= 1
            if not self._whites[pair]:
                del self._whites[pair]
            self._met.pop(frozenset(pair), None)
            self._met[frozenset(pair)] = apart_until

    def look(self, now: float, *, apart: bool) -> float | None:
        """Set the time of the following answers; return when the next pair may meet again.

        :param apart: whether pairs who have just met are kept apart at all.
        """
        self._met = {pair: until for pair, until in self._met.items() if until > now}
        self._apart = apart
        return min(self._met.values(), default=None) if apart else None

    def in_hand(self, one: int, other: int) -> int:
        return self._whites[one, other] + self._whites[other, one]

    def whites(self, one: int, other: int) -> int:
        return self._whites[one, other] + self._record.whites(one, other)

    def just_met(self, one: int, other: int) -> bool:
        return self._apart and frozenset((one, other)) in self._met

    def _put(self, game_id: int, pair: tuple[int, int]) -> None:
        self._games[game_id] = pair
        self._whites[pair] += 1
