"""Who waits for what: the bells behind ``wait``."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import trio

#: Waiters woken in one turn of the event loop, when more than so many wait for the same: each costs some tenths of a
#: millisecond, in which nobody else is served.
PORTION = 16


class Subscription:
    """Rung when something a waiter looks at may have changed; it looks again, and may wait again.

    :ivar interrupted: the waiter is to answer now, whatever it sees.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._event = trio.Event()

    def notify(self) -> None:
        """Wake the waiter."""
        self._event.set()

    def interrupt(self) -> None:
        """Wake the waiter for good."""
        self.interrupted = True
        self._event.set()

    async def wait(self) -> None:
        """Return at the first ring since the last return."""
        await self._event.wait()
        if not self.interrupted:
            self._event = trio.Event()


class _Crowd:
    """All who wait for the same, those first whose bells have not been rung for longest.

    :ivar called: how many of the first are still to be woken.
    :ivar queued: whether it has a place among the crowds to be woken.
    """

    __slots__ = ("called", "queued", "subscriptions")

    def __init__(self) -> None:
        self.subscriptions: OrderedDict[Subscription, None] = OrderedDict()
        self.called = 0
        self.queued = False

    def call(self) -> None:
        """All who wait now are to be woken."""
        self.called = len(self.subscriptions)

    def wake(self, most: int) -> int:
        """Wake the next of those called, at most so many; how many were woken.

        Whoever is woken goes to the end, for it may wait on: a bell that is rung in vain keeps nobody else waiting.
        """
        count = self.called = min(self.called, len(self.subscriptions))
        count = min(count, most)
        for _ in range(count):
            subscription = next(iter(self.subscriptions))
            self.subscriptions.move_to_end(subscription)
            subscription.notify()
        self.called -= count
        return count


#: Crowds by what they wait for: the id of a game or of a player.
_Crowds = dict[int, _Crowd]


class Watchers:
    """All bells, by the games and the players they are for.

    A player's is rung at once. Where very many wait for the same, and for spectators, :meth:`run` rings the others in
    portions, a turn of the event loop for each, so that everybody else is served in between. Crowds that are to be
    woken at the same time take turns: a large one does not keep a small one waiting.
    """

    def __init__(self) -> None:
        self._by_game: _Crowds = {}
        self._by_player: _Crowds = {}
        self._spectators: _Crowds = {}
        self._called: deque[_Crowd] = deque()
        self._call = trio.Event()
        self._stopped = False

    @contextmanager
    def watching_games(self, game_ids: Iterable[int]) -> Iterator[Subscription]:
        """A player's bell, that every durable change of these games rings."""
        with self._hung(self._by_game, game_ids) as subscription:
            yield subscription

    @contextmanager
    def watching_player(self, player: int) -> Iterator[Subscription]:
        """A bell that every durable change of any game of the player's rings."""
        with self._hung(self._by_player, [player]) as subscription:
            yield subscription

    @contextmanager
    def spectating(self, game_ids: Iterable[int]) -> Iterator[Subscription]:
        """A bell that every durable change of these games rings, once the players' have been rung."""
        with self._hung(self._spectators, game_ids) as subscription:
            yield subscription

    def watched(self, game_id: int) -> bool:
        """Whether somebody waits for this very game."""
        return game_id in self._by_game or game_id in self._spectators

    def has_crowd(self, game_id: int) -> bool:
        """Whether more than one spectator waits for this very game."""
        crowd = self._spectators.get(game_id)
        return crowd is not None and len(crowd.subscriptions) > 1

    def notify(self, game_id: int, players: Iterable[int | None]) -> None:
        """A game of these players has changed, durably."""
        if self._by_game and (crowd := self._by_game.get(game_id)) is not None:
            self._wake_first(crowd)
        if self._by_player:
            for player in players:
                if player is not None and (crowd := self._by_player.get(player)) is not None:
                    self._wake_first(crowd)
        if self._spectators and (crowd := self._spectators.get(game_id)) is not None:
            crowd.call()
            self._queue(crowd)

    async def run(self) -> None:
        """Wake those who were called, a portion a turn of the event loop, until cancelled."""
        while True:
            if not self._called:
                self._call = trio.Event()
                await self._call.wait()
            self._wake_portion()
            await trio.lowlevel.checkpoint()

    def stop(self) -> None:
        """Interrupt every waiter, now and from now on."""
        self._stopped = True
        for crowds in (self._by_game, self._by_player, self._spectators):
            for crowd in crowds.values():
                for subscription in crowd.subscriptions:
                    subscription.interrupt()

    def _wake_first(self, crowd: _Crowd) -> None:
        """Wake the first of a crowd now, and the others when their turn comes."""
        crowd.call()
        crowd.wake(PORTION)
        if crowd.called:
            self._queue(crowd)

    def _queue(self, crowd: _Crowd) -> None:
        if not crowd.queued:
            crowd.queued = True
            self._called.append(crowd)
            self._call.set()

    def _wake_portion(self) -> None:
        left = PORTION
        while left and self._called:
            crowd = self._called.popleft()
            crowd.queued = False
            left -= crowd.wake(left)
            if crowd.called:
                self._queue(crowd)

    @contextmanager
    def _hung(self, crowds: _Crowds, keys: Iterable[int]) -> Iterator[Subscription]:
        subscription = Subscription()
        if self._stopped:
            subscription.interrupt()
        keys = set(keys)
        for key in keys:
            if (crowd := crowds.get(key)) is None:
                crowd = crowds[key] = _Crowd()
            crowd.subscriptions[subscription] = None
        try:
            yield subscription
        finally:
            for key in keys:
                crowd = crowds[key]
                del crowd.subscriptions[subscription]
                if not crowd.subscriptions:
                    del crowds[key]
