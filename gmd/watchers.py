"""Who waits for what: the bells behind ``wait``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import trio


class Bell:
    """Rung when something a waiter looks at may have changed; it looks again, and may wait again.

    :ivar interrupted: the waiter is to answer now, whatever it sees.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._event = trio.Event()

    def ring(self) -> None:
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


class Watchers:
    """All bells, by the games and the players they are for."""

    def __init__(self) -> None:
        self._by_game: dict[int, set[Bell]] = {}
        self._by_player: dict[int, set[Bell]] = {}
        self._stopped = False

    @contextmanager
    def watching_games(self, game_ids: Iterable[int]) -> Iterator[Bell]:
        """A bell that every durable change of these games rings."""
        with self._hung(self._by_game, game_ids) as bell:
            yield bell

    @contextmanager
    def watching_player(self, player: int) -> Iterator[Bell]:
        """A bell that every durable change of any game of the player's rings."""
        with self._hung(self._by_player, [player]) as bell:
            yield bell

    def watched(self, game_id: int) -> bool:
        """Whether somebody waits for this very game."""
        return game_id in self._by_game

    def ring(self, game_id: int, players: Iterable[int | None]) -> None:
        """A game of these players has changed, durably."""
        if self._by_game:
            for bell in self._by_game.get(game_id, ()):
                bell.ring()
        if self._by_player:
            for player in players:
                if player is not None:
                    for bell in self._by_player.get(player, ()):
                        bell.ring()

    def stop(self) -> None:
        """Interrupt every waiter, now and from now on."""
        self._stopped = True
        for bells in (*self._by_game.values(), *self._by_player.values()):
            for bell in bells:
                bell.interrupt()

    @contextmanager
    def _hung(self, bells: dict[int, set[Bell]], keys: Iterable[int]) -> Iterator[Bell]:
        bell = Bell()
        if self._stopped:
            bell.interrupt()
        keys = set(keys)
        for key in keys:
            bells.setdefault(key, set()).add(bell)
        try:
            yield bell
        finally:
            for key in keys:
                bells[key].discard(bell)
                if not bells[key]:
                    del bells[key]
