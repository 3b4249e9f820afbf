"""Plays a match: several games at once, their records in the plan's order, and no more than it takes to decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import trio

from .plan import Fixture
from .record import Record

#: What plays one game.
Play = Callable[[Fixture], Awaitable[Record]]


class Ledger:
    """Takes games as they end, and gives them on in the plan's order."""

    def __init__(self, first: int) -> None:
        """:param first: the number of the game that is to be given on next."""
        self._next = first
        self._early: dict[int, Record] = {}

    def take(self, record: Record) -> Iterator[Record]:
        """Take a game; those that now follow each other from the last one on that was given."""
        self._early[record["game"]] = record
        while self._next in self._early:
            yield self._early.pop(self._next)
            self._next += 1


class Runner:
    """A match that is being played.

    :ivar in_hand: how many games are being played.
    """

    def __init__(self, play: Play, keep: Callable[[Record], None], decided: Callable[[], bool]) -> None:
        """:param keep: is given every game, in the plan's order.
        :param decided: asked after each; whether the rest is of no interest any more.
        """
        self._play, self._keep, self._decided = play, keep, decided
        self._error: Exception | None = None
        self.in_hand = 0

    async def run(self, fixtures: Sequence[Fixture], concurrency: int) -> None:
        """Play games to the last, or until it is decided.

        Whether it is decided is asked of the games in the plan's order, so that it does not depend on which end first.

        :raises Exception: what playing a game raised. Those that are in the record stay there.
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
                record = await self._play(fixture)
            except Exception as error:  # carried past the nursery, which would make a group of it
                self._error = self._error or error
                everything.cancel()
                return
            finally:
                self.in_hand -= 1
            for kept in ledger.take(record):
                self._keep(kept)
                if self._decided():
                    everything.cancel()
                    return
