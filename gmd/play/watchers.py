"""Subscriptions to games and players, for ``wait``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager

import chess
import trio

from gmd.play.fan_out import FanOut, Group, Membership
from gmd.play.timeouts import Timeouts

#: About the most subscribers that are notified in one turn of the event loop: each costs some tenths of a millisecond,
#: in which no other client is served.
PORTION = 16
#: Queued subscribers of a group that are notified before those of the next group: the two players of a game.
AT_ONCE = 2


class Subscription:
    """A subscription, which is notified of possible changes; the subscriber checks, and may wait again.

    :ivar interrupted: whether the subscriber must answer now, whatever the state.
    :ivar timed_out: whether the subscriber has waited as long as it may.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self.timed_out = False
        self._event = trio.Event()

    def notify(self) -> None:
        """Wake the subscriber."""
        self._event.set()

    def interrupt(self) -> None:
        """Wake the subscriber and make all later waits return at once."""
        self.interrupted = True
        self._event.set()

    def time_out(self) -> None:
        """Wake the subscriber, as its time is up."""
        self.timed_out = True
        self._event.set()

    def forget(self) -> None:
        """Forget the notifications so far: the subscriber is about to look."""
        if not self.interrupted and self._event.is_set():
            self._event = trio.Event()

    async def wait(self) -> None:
        """Return at the first notification since the last return, or since :meth:`forget`."""
        await self._event.wait()
        if not self.interrupted:
            self._event = trio.Event()


#: Groups by the id of a game or of a player; those who may know of senses by a game's id and the side that senses.
_Groups = dict[Hashable, Group[Subscription]]


class Watchers:
    """All subscriptions, by the games and the players that they are for.

    The first subscriptions of players are notified at once. The others, where very many wait, for one game or for many
    that change at the same time, and all spectators are notified by :meth:`run`, in portions.

    :ivar timeouts: those of subscribers.
    """

    def __init__(self) -> None:
        self._by_game: _Groups = {}
        self._by_player: _Groups = {}
        self._spectators: _Groups = {}
        self._senses: _Groups = {}
        self._fan_out = FanOut(PORTION, AT_ONCE)
        self.timeouts = Timeouts(PORTION)
        self._stopped = False

    @contextmanager
    def watching_games(self, game_ids: Iterable[int]) -> Iterator[Subscription]:
        """Subscribe a player to every durable change of these games."""
        with self._subscribed((self._by_game, game_ids)) as subscription:
            yield subscription

    @contextmanager
    def watching_seat(self, game_id: int, color: chess.Color) -> Iterator[Subscription]:
        """Subscribe the player of a seat to every durable change of a game, and to its own senses."""
        with self._subscribed((self._by_game, [game_id]), (self._senses, [(game_id, color)])) as subscription:
            yield subscription

    @contextmanager
    def watching_player(self, player: int) -> Iterator[Subscription]:
        """Subscribe to every durable change of any game of a player."""
        with self._subscribed((self._by_player, [player])) as subscription:
            yield subscription

    @contextmanager
    def spectating(self, game_ids: Iterable[int]) -> Iterator[Subscription]:
        """Subscribe a spectator to every durable change of these games; players are notified first."""
        with self._subscribed((self._spectators, game_ids)) as subscription:
            yield subscription

    @contextmanager
    def overseeing(self, game_id: int) -> Iterator[Subscription]:
        """Subscribe a spectator who sees everything: as :meth:`spectating`, and to the senses of both sides."""
        senses = [(game_id, color) for color in chess.COLORS]
        with self._subscribed((self._spectators, [game_id]), (self._senses, senses)) as subscription:
            yield subscription

    def watched(self, game_id: int) -> bool:
        """Return whether a game has subscribers of its own."""
        return game_id in self._by_game or game_id in self._spectators

    def waits(self, player: int) -> bool:
        """Return whether somebody waits for any game of a player."""
        return player in self._by_player

    def has_crowd(self, game_id: int) -> bool:
        """Return whether more than one spectator waits for a game."""
        group = self._spectators.get(game_id)
        return group is not None and len(group) > 1

    def notify(self, game_id: int, players: Iterable[int | None]) -> None:
        """Notify the subscribers of a game and of its players, once a change of the game is durable."""
        if self._by_game and (group := self._by_game.get(game_id)) is not None:
            self._fan_out.call(group, first_now=True)
        if self._by_player:
            for player in players:
                if player is not None and (group := self._by_player.get(player)) is not None:
                    self._fan_out.call(group, first_now=True)
        if self._spectators and (group := self._spectators.get(game_id)) is not None:
            self._fan_out.call(group)

    def notify_sense(self, game_id: int, color: chess.Color) -> None:
        """Notify those who may know of it once a side's sense is durable; nobody else."""
        if self._senses and (group := self._senses.get((game_id, color))) is not None:
            self._fan_out.call(group)

    async def run(self) -> None:
        """Notify those who are not notified at once, and those whose time is up, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._fan_out.run)
            nursery.start_soon(self.timeouts.run)

    def stop(self) -> None:
        """Interrupt every subscriber, present and future."""
        self._stopped = True
        for groups in (self._by_game, self._by_player, self._spectators):  # those of senses are among them
            for group in groups.values():
                for subscription in group:
                    subscription.interrupt()

    @contextmanager
    def _subscribed(self, *wanted: tuple[_Groups, Iterable[Hashable]]) -> Iterator[Subscription]:
        subscription = Subscription()
        if self._stopped:
            subscription.interrupt()
        joined = []
        for groups, keys in wanted:
            distinct = list(set(keys))
            joined.append((groups, distinct, [_group(groups, key).add(subscription) for key in distinct]))
        try:
            yield subscription
        finally:
            for groups, keys, places in joined:
                for key, place in zip(keys, places, strict=True):
                    _leave(groups, key, place)


def _group(groups: _Groups, key: Hashable) -> Group[Subscription]:
    """Return the group of a key, a new one if there is none."""
    if (group := groups.get(key)) is None:
        group = groups[key] = Group(Subscription.notify)
    return group


def _leave(groups: _Groups, key: Hashable, place: Membership[Subscription]) -> None:
    """Remove a member of a key's group, and the group with its last one."""
    group = groups[key]
    group.remove(place)
    if not group:
        del groups[key]
