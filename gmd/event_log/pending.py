"""Appends that are not durable yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice

import trio
from msgspec import Struct

from gm_protocol.errors import GmError
from gmd.event_log.interface import TokenUse
from gmd.event_log.store import GameAppend
from gmd.games.events import AnyEvent
from gmd.games.game import GameSummary
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Appends that are settled in one turn of the event loop: the reply and the notifications that follow one take some
#: hundredths of a millisecond.
PORTION = 32
#: The most games in a batch: it takes the event loop some milliseconds to describe them.
MOST_GAMES = 256


class Pending(Struct, eq=False):
    """The events of one game in one batch, and their :class:`~gmd.event_log.interface.Commit`."""

    game_id: int
    expected: int
    summary: Callable[[], GameSummary]
    token: TokenUse | None = None
    events: list[AnyEvent] = []
    done: bool = False
    error: GmError | None = None
    _callbacks: list[Callable[[GmError | None], None]] = []
    _settled: trio.Event | None = None

    @property
    def end(self) -> int:
        """The number of the game's events once this is durable."""
        return self.expected + len(self.events)

    def as_append(self) -> GameAppend:
        """Return the data to write, with the game's summary as of now."""
        return GameAppend(self.game_id, self.expected, self.events, self.summary(), self.token)

    def then(self, callback: Callable[[GmError | None], None]) -> None:
        if self.done or self.error is not None:
            callback(self.error)
        else:
            self._callbacks.append(callback)

    async def wait(self) -> None:
        await self.settled()
        if self.error is not None:
            raise self.error

    async def settled(self) -> None:
        """Wait until it is durable or has failed."""
        if not self.done and self.error is None:
            if self._settled is None:
                self._settled = trio.Event()
            await self._settled.wait()

    def settle(self, error: GmError | None) -> None:
        """Mark it as durable, or as failed with an error, and call the callbacks."""
        self.done = error is None
        self.error = error
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            try:
                callback(error)
            except Exception:
                logger.exception("what follows a commit failed", game_id=self.game_id)  # the other callbacks still run
        if self._settled is not None:
            self._settled.set()


def divided(gathered: dict[int, Pending]) -> tuple[dict[int, Pending], dict[int, Pending]]:
    """Return the appends of the next batch, and those that come after it."""
    if len(gathered) <= MOST_GAMES:
        return gathered, {}
    return dict(islice(gathered.items(), MOST_GAMES)), dict(islice(gathered.items(), MOST_GAMES, None))


class Settling:
    """Settles appends that have become durable, in their order, a portion in each turn of the event loop."""

    def __init__(self) -> None:
        self._durable: deque[Pending] = deque()

    def settle(self, durable: Iterable[Pending]) -> None:
        """Settle the first portion now, unless others come first, and the others in later turns."""
        is_called = bool(self._durable)
        self._durable.extend(durable)
        if not is_called:
            self._settle_portion()

    def finish(self) -> None:
        """Settle all that are left now."""
        while self._durable:
            self._durable.popleft().settle(None)

    def _settle_portion(self) -> None:
        for _ in range(min(PORTION, len(self._durable))):
            self._durable.popleft().settle(None)
        if self._durable:
            trio.lowlevel.current_trio_token().run_sync_soon(self._settle_portion)
