"""An append on its way to durability."""

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
        """How many events the game has once this is durable."""
        return self.expected + len(self.events)

    def as_append(self) -> GameAppend:
        """What is to be written, with the game's standing as of now."""
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
        """Return once it is durable or has failed."""
        if not self.done and self.error is None:
            if self._settled is None:
                self._settled = trio.Event()
            await self._settled.wait()

    def settle(self, error: GmError | None) -> None:
        """It is durable, or has failed."""
        self.done = error is None
        self.error = error
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            try:
                callback(error)
            except Exception:
                logger.exception("what follows a commit failed", game_id=self.game_id)  # the others' is still to come
        if self._settled is not None:
            self._settled.set()
