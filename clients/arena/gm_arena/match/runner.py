"""Plays a match: several games at once, with records in the plan's order, and no more games than the decision needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import trio

from .plan import Fixture
from .record import Record

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
    """A match in progress.

    :ivar in_hand: the number of parts in progress.
    """

    def __init__(self, play: Play, keep: Callable[[Record], None], decided: Callable[[], bool]) -> None:
        """:param keep: receives every game, in the plan's order.
        :param decided: called after each game; returns whether the remaining games are no longer needed.
        """
        self._play, self._keep, self._decided = play, keep, decided
        self._error: Exception | None = None
        self.in_hand = 0

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
            self.in_hand += 1
            try:
                ended = self._take(ledger, await self._play(part))
            except Exception as error:  # raised outside the nursery, which would wrap it in a group
                self._error, ended = self._error or error, True
            finally:
                self.in_hand -= 1
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
