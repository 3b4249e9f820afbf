"""The wait for games to come back: clients that were answered together ask again together, and share the next commit.

Without it the clients split into two halves, each of which gathers while the other half is being committed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf

import trio

#: Seconds for which a batch waits for the first game to come back, and after each for the next one. It is the shortest
#: time that the event loop can sleep, and about as long as a commit takes.
RETURN_SECONDS = 0.001
#: Seconds for which it waits at most.
LONGEST_SECONDS = 0.005
#: The most commits in a row that do not wait, after waits in vain.
MOST_SKIPPED = 64


class BatchDelay:
    """The games that were in the last batch and have not come back, while the next batch waits for them.

    A wait is in vain if less than half of them come: their players think, or are far away. Then twice as many commits
    as the last time do without.
    """

    def __init__(self, seconds: float) -> None:
        """:param seconds: :data:`RETURN_SECONDS`; 0 for no wait at all."""
        self._seconds = seconds
        self._away: set[int] = set()
        self._most_away = 0  # how many of them make the wait one in vain
        self._until = self._longest = 0.0
        self._skipped = self._to_skip = 0
        self._waits = self._others = False  # whether a wait was begun, and whether others waited for its end then
        self._timer = trio.CancelScope()
        self._is_set = False

    def committed(self, answered: Iterable[int], gathered: Collection[int]) -> None:
        """Note that a batch is durable. Its clients are answered until :meth:`settled`.

        :param answered: the games that were in it.
        :param gathered: the games in the next one so far.
        """
        if not self._seconds:
            return
        if self._to_skip:
            self._to_skip -= 1
            return
        self._away = set(answered).difference(gathered)
        self._most_away, self._waits, self._others = len(self._away) // 2, True, bool(gathered)
        self._until = self._longest = trio.current_time() + LONGEST_SECONDS

    def settled(self) -> None:
        """Note that the clients of the last batch are answered: from now on their games come back."""
        if self._away:
            self._until = min(trio.current_time() + self._seconds, self._longest)
            if self._others or self._is_set:
                self._timer.deadline, self._is_set = self._until, True

    def gathered(self, game_id: int) -> None:
        """Note that a game is in the next batch. Call it in a task, not at the end of a turn."""
        if not self._away:
            return
        if game_id in self._away:
            self._away.remove(game_id)
            self._until = min(trio.current_time() + self._seconds, self._longest)
        if self._away:
            self._set_timer()
        elif self._is_set:
            self._timer.deadline, self._is_set = inf, False

    def _set_timer(self) -> None:
        if not self._is_set and self._away and trio.current_time() < self._until:
            self._timer.deadline, self._is_set = self._until, True

    @property
    def is_awaited(self) -> bool:
        """Whether the next batch is to wait."""
        return bool(self._away) and trio.current_time() < self._until

    def handed_over(self) -> None:
        """Note that the next batch is being committed."""
        if self._waits and len(self._away) > self._most_away:
            self._skipped = self._to_skip = min(max(1, 2 * self._skipped), MOST_SKIPPED)
        elif self._waits:
            self._skipped = 0
        self._away, self._waits = set(), False

    async def run(self) -> None:
        """Wake the event loop when a wait is over, until cancelled."""
        while True:
            with trio.CancelScope() as self._timer:
                self._is_set = False
                self._set_timer()  # games have come back since it was set
                await trio.sleep_forever()
