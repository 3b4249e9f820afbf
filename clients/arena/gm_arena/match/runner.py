"""Plays a match: several games at once, with records in the plan's order, and no more games than the decision needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import trio

from .plan import Fixture
from .record import Record

#: The type of a function that plays one game.
Play = Callable[[Fixture], Awaitable[Record]]


class Ledger:
    """A buffer that takes games as they end, and releases them in the plan's order."""

    def __init__(self, first: int) -> None:
        """:param first: the number of the game to release next."""
        self._next = first
        self._early: dict[int, Record] = {}

    def take(self, record: Record) -> Iterator[Record]:
        """Take a game; yield all games that can now be released in order."""
        self._early[record["game"]] = record
        while self._next in self._early:
            yield self._early.pop(self._next)
            self._next += 1


class Runner:
    """A match in progress.

    :ivar in_hand: the number of games in progress.
    """

    def __init__(self, play: Play, keep: Callable[[Record], None], decided: Callable[[], bool]) -> None:
        """:param keep: receives every game, in the plan's order.
        :param decided: called after each game; returns whether the remaining games are no longer needed.
        """
        self._play, self._keep, self._decided = play, keep, decided
        self._error: Exception | None = None
        self.in_hand = 0

    async def run(self, fixtures: Sequence[Fixture], concurrency: int) -> None:
        """Play the games to the last, or until the match is decided.

        The decision is checked in the plan's order, so that it does not depend on which games end first.

        :raises Exception: the exception of a game. The games recorded before it stay recorded.
        """
        if not fixtures or self._decided():
            return
        left, ledger = iter(fixtures), Ledger(fixtures[0].number)
        async with trio.open_nursery() as nursery:
            for _ in range(min(concurrency, len(fixtures))):
                nursery.start_soon(self._play_on, left, ledger, nursery.cancel_scope)
        if self._error is not None:
            raise self._error

    async def _play_on(self, left: Iterator[Fixture], ledger: Ledger, everything: trio.CancelScope) -> None:
        """Play one game after the other."""
        for fixture in left:
            self.in_hand += 1
            try:
                ended = self._take(ledger, await self._play(fixture))
            except Exception as error:  # raised outside the nursery, which would wrap it in a group
                self._error, ended = self._error or error, True
            finally:
                self.in_hand -= 1
            if ended:
                everything.cancel()
                return

    def _take(self, ledger: Ledger, record: Record) -> bool:
        """Keep the games that can be released now; return whether the remaining games are no longer needed."""
        for kept in ledger.take(record):
            self._keep(kept)
            if self._decided():
                return True
        return False
