"""Waits that other daemons answer: for games of one owner, and of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec
import trio

from gm_protocol.errors import GmError
from gmd.watchers import Subscription

from .calling import AskResult, LinkLost, Settle
from .forwarding import Forward, Forwarded


class Asking(Protocol):
    """A link to a daemon, or the way to this one: what :class:`~gmd.cluster.calling.Caller` does."""

    def post(self, message: Any, settle: Settle) -> int: ...

    def interrupt(self, ask: int) -> None: ...

    async def room(self) -> None: ...


class RemoteWait:
    """One ``wait`` at one daemon.

    :ivar outcome: what became of it; None until then.
    """

    def __init__(self, caller: Asking, message: Forward, settled: Callable[[], None]) -> None:
        """Send it.

        :param settled: called once there is an outcome.
        """
        self.outcome: AskResult | None = None
        self._caller = caller
        self._settled = settled
        self._ask = caller.post(message, self._settle)

    def interrupt(self) -> None:
        """Have it answered now."""
        if self.outcome is None:
            self._caller.interrupt(self._ask)

    def _settle(self, outcome: AskResult) -> None:
        self.outcome = outcome
        self._settled()

    @property
    def is_over(self) -> bool:
        """Whether it has an answer that shows a game, or an error."""
        return self.outcome is not None and not (isinstance(self.outcome, Forwarded) and self.outcome.is_empty)


class RemoteWaits(Subscription):
    """A session's ``wait``, at one daemon or at several at a time. An interruption goes over the links."""

    def __init__(self) -> None:
        super().__init__()
        self._waits: list[RemoteWait] = []
        self._change = trio.Event()

    def post(self, caller: Asking, message: Forward) -> None:
        """Wait at another daemon, too."""
        self._waits.append(RemoteWait(caller, message, lambda: self._change.set()))

    def interrupt(self) -> None:
        """Have all answered now."""
        if not self.interrupted:
            super().interrupt()
            self._interrupt_all()

    def close(self) -> None:
        """Interrupt those that are not answered: nobody waits for their answers."""
        self._interrupt_all()

    def _interrupt_all(self) -> None:
        for wait in self._waits:
            wait.interrupt()

    async def outcomes(self) -> list[AskResult | None]:
        """Return what became of each, once one shows a game or has failed, or all are answered."""
        while not any(wait.is_over for wait in self._waits) and any(wait.outcome is None for wait in self._waits):
            await self._change.wait()
            self._change = trio.Event()
        return [wait.outcome for wait in self._waits]


class _Named(msgspec.Struct):
    game_id: int = -1


_game_in = msgspec.json.Decoder(_Named).decode


def first_of(outcomes: Sequence[AskResult | Forwarded | None], game_ids: Sequence[int]) -> tuple[int, Forwarded]:
    """Return the answer to a wait for several games: that which shows the game named first, else an empty one.

    :param game_ids: the games in the order of the request.
    :returns: its index, and the answer.
    :raises GmError: one was refused.
    :raises LinkLost: one was lost.
    """
    best: tuple[int, int, Forwarded] | None = None
    for index, outcome in enumerate(outcomes):
        if outcome is None:
            continue
        if isinstance(outcome, GmError | LinkLost):
            raise outcome
        assert isinstance(outcome, Forwarded)
        if outcome.code is not None:
            return index, outcome
        place = len(game_ids) if outcome.is_empty else game_ids.index(_game_in(outcome.body).game_id)
        if best is None or place < best[0]:
            best = place, index, outcome
    assert best is not None
    return best[1], best[2]
