"""Games to be loaded from the log because their clocks run, at once or with backoff."""

from __future__ import annotations

from math import inf

import trio

from gmd import loop_time
from gmd.deadlines import Deadlines

#: Seconds of backoff for a game whose deadline has come but that cannot be loaded or written: FIRST_RETRY at first,
#: then twice as long each time, up to LAST_RETRY.
FIRST_RETRY = 1.0
LAST_RETRY = 60.0


class Reloads:
    """The queue of games to load, and the backoff of those that cannot be loaded or written."""

    def __init__(self) -> None:
        #: When to retry loading a game that could not be loaded; and the backoff of each, in seconds.
        self._retries = Deadlines(self._retry)
        self._delays: dict[int, float] = {}
        #: Games whose last write failed, with the backoff in seconds before each is loaded again; 0 for none.
        self._lost: dict[int, float] = {}
        self._wanted, self._to_load = trio.open_memory_channel[int](inf)

    def want(self, game_id: int) -> None:
        """Have a game loaded."""
        self._wanted.send_nowait(game_id)

    async def next(self) -> int:
        """Return the next game to load."""
        return await self._to_load.receive()

    def loaded(self, game_id: int) -> None:
        """Note that a game was loaded, or need not be."""
        self._delays.pop(game_id, None)

    def failed(self, game_id: int) -> None:
        """Note that a game could not be loaded: it is tried again, with backoff."""
        delay = self._delays[game_id] = _longer(self._delays.get(game_id, 0.0))
        self._retries.set(game_id, loop_time.now() + delay)

    def lose(self, game_id: int) -> None:
        """Have a game whose write failed loaded again: at once, then with backoff until a write succeeds.

        The flag of a game with no time left falls as soon as it is loaded; while writing fails, it is dropped again.
        """
        put_off = self._lost.get(game_id)
        if put_off is None:
            self._lost[game_id] = 0.0
            self.want(game_id)
        else:
            delay = self._lost[game_id] = _longer(put_off)
            self._retries.set(game_id, loop_time.now() + delay)

    def written(self, game_id: int) -> None:
        """Note that a game was written."""
        if self._lost:
            self._lost.pop(game_id, None)

    async def run(self) -> None:
        """Queue games again when their backoff is over, until cancelled."""
        await self._retries.run()

    def _retry(self, game_id: int) -> None:
        self._retries.clear(game_id)
        self.want(game_id)


def _longer(delay: float) -> float:
    """Return the backoff that follows a backoff, in seconds."""
    return min(2 * delay, LAST_RETRY) if delay else FIRST_RETRY
