"""Appends that are not durable yet."""

from __future__ import annotations

from collections.abc import Callable

import trio
from msgspec import Struct

from gm_protocol.errors import GmError
from gmd.games.events import AnyEvent
from gmd.games.game import GameSummary
from gmd.logger import get_logger

from .interface import TokenUse
from .store import GameAppend

logger = get_logger(__name__)


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
