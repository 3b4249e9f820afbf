"""The games of a match, which depend only on its arguments, and the playing of them.

Several are played at once, with records in the plan's order, and no more than the decision needs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import trio

from ..schedule import Pairing, gauntlet, round_robin
from .openings import Opening
from .record import Record

Kind = Literal["round-robin", "gauntlet"]


@dataclass(frozen=True)
class Fixture:
    """A planned game.

    :ivar number: from 1, in the order of the match.
    :ivar white: number of a bot, from 0; likewise ``black``.
    :ivar pair: the same for the two games from one opening with colours swapped.
    """

    number: int
    white: int
    black: int
    opening: Opening
    pair: tuple[int, int, int]

    @property
    def bots(self) -> tuple[int, int]:
        """The numbers of White and Black."""
        return self.white, self.black


def fixtures(bots: int, games: int, openings: Sequence[Opening], *, kind: Kind) -> list[Fixture]:
    """Return all games; each opening is played twice, with colours swapped.

    Any two who meet play the same openings, in the same order, so that all pairings are equally hard.

    :param games: how many games any two who meet play, with alternating colours.
    :param kind: in a gauntlet the first bot meets all the others.
    """
    rounds = round_robin(bots, games) if kind == "round-robin" else gauntlet(bots, games)
    met: dict[tuple[int, ...], int] = {}
    planned: list[Fixture] = []
    for pairing in _in_order(rounds):
        two = tuple(sorted(pairing))
        encounter = met.get(two, 0)
        met[two] = encounter + 1
        opening = openings[encounter // 2 % len(openings)]
        planned.append(Fixture(len(planned) + 1, *pairing, opening, (two[0], two[1], encounter // 2)))
    return planned


def _in_order(rounds: list[list[Pairing]]) -> list[Pairing]:
    """Return the games in sequence; the two of a pair are adjacent, so that a match that ends early has whole pairs."""
    games = [pairing for games in rounds for pairing in games]
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


# --- The playing -------------------------------------------------------------------------------------------------


#: The type of a function that plays a part of the games: one, or several in step.
Play = Callable[[Sequence[Fixture]], Awaitable[list[Record]]]


class Ledger:
    """A buffer that takes games as they end, and releases them in the plan's order."""

    def __init__(self, first: int) -> None:
        """:param first: the number of the game to release next."""
        self._next = first
        self._early: dict[int, Record] = {}

    def take(self, records: Sequence[Record]) -> Iterator[Record]:
        """Take games; yield all games that can now be released in order."""
        self._early |= {record["game"]: record for record in records}
        while self._next in self._early:
            yield self._early.pop(self._next)
            self._next += 1


class Runner:
    """A match in progress."""

    def __init__(self, play: Play, keep: Callable[[Record], None], decided: Callable[[], bool]) -> None:
        """:param keep: receives every game, in the plan's order.
        :param decided: called after each game; returns whether the remaining games are no longer needed.
        """
        self._play, self._keep, self._decided = play, keep, decided
        self._error: Exception | None = None

    async def run(self, parts: Sequence[Sequence[Fixture]], concurrency: int) -> None:
        """Play the games to the last, or until the match is decided.

        :param parts: the games, in parts that are played as one; the first game of the match is in the first.
        :param concurrency: how many parts are played at the same time.

        The decision is checked in the plan's order, so that it does not depend on which games end first.

        :raises Exception: the exception of a game. The games recorded before it stay recorded.
        """
        if not parts or self._decided():
            return
        left, ledger = iter(parts), Ledger(parts[0][0].number)
        async with trio.open_nursery() as nursery:
            for _ in range(min(concurrency, len(parts))):
                nursery.start_soon(self._play_on, left, ledger, nursery.cancel_scope)
        if self._error is not None:
            raise self._error

    async def _play_on(self, left: Iterator[Sequence[Fixture]], ledger: Ledger, everything: trio.CancelScope) -> None:
        """Play one part after the other."""
        for part in left:
            try:
                ended = self._take(ledger, await self._play(part))
            except Exception as error:  # raised outside the nursery, which would wrap it in a group
                self._error, ended = self._error or error, True
            if ended:
                everything.cancel()
                return

    def _take(self, ledger: Ledger, records: Sequence[Record]) -> bool:
        """Keep the games that can be released now; return whether the remaining games are no longer needed."""
        for kept in ledger.take(records):
            self._keep(kept)
            if self._decided():
                return True
        return False
