"""Putting games into a log, unless it has them."""

from __future__ import annotations

from typing import Literal

from msgspec import structs

from gmd.event_log.sql import SqlStore
from gmd.event_log.store import Restored

from .games import BadGame

#: Games, and events, that are put in at once: a commit each would take longer than everything else.
GAMES_A_BATCH = 200
EVENTS_A_BATCH = 20_000


class Importer:
    """Takes games in, many in one transaction: what was added is durable after :meth:`flush`.

    :ivar imported: how many games are durable.
    """

    def __init__(self, store: SqlStore, first_new_id: int, *, may_renumber: bool = False) -> None:
        """:param first_new_id: given to the first game that gets a new id; no game has it or a higher one.
        :param may_renumber: whether a game whose id is another game's gets a new one, rather than being bad.
        """
        self._store = store
        self._next_id = first_new_id
        self._may_renumber = may_renumber
        self._waiting: dict[int, Restored] = {}
        self._events = 0
        self.imported = 0

    def add(self, game: Restored) -> Literal["imported", "there"] | int:
        """Take in a game under its own id: it is there already, or gets a new id, where it may.

        :return: the new id, if it gets one.
        :raises BadGame: the id is another game's.
        """
        game_id = game.append.game_id
        there = self._there(game_id)
        if not there:
            self._put(game)
            return "imported"
        if there == list(game.append.events):
            return "there"
        if not self._may_renumber:
            raise BadGame(f"game {game_id} is there already, and another; --new-ids gives this one an id of its own")
        return self.add_new(game)

    def add_new(self, game: Restored) -> int:
        """Take in a game under a new id, and return that."""
        game_id, self._next_id = self._next_id, self._next_id + 1
        self._put(game._replace(append=structs.replace(game.append, game_id=game_id)))
        return game_id

    def flush(self) -> None:
        """Write what is waiting."""
        if self._waiting:
            self._store.restore(list(self._waiting.values()))
            self.imported += len(self._waiting)
        self._waiting = {}
        self._events = 0

    def _there(self, game_id: int) -> list[object]:
        """The events of a game that is there, or will be."""
        waiting = self._waiting.get(game_id)
        return list(self._store.load(game_id) if waiting is None else waiting.append.events)

    def _put(self, game: Restored) -> None:
        self._waiting[game.append.game_id] = game
        self._events += len(game.append.events)
        if len(self._waiting) >= GAMES_A_BATCH or self._events >= EVENTS_A_BATCH:
            self.flush()
