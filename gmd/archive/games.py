"""The games of a file during an import, their errors, and their import into a log that does not have them yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import structs

from gmd.event_log.sql import SqlStore
from gmd.event_log.store import GameAppend, Restored
from gmd.games.events import AnyEvent
from gmd.games.game import Game


class BadGame(Exception):
    """A game of a file that cannot be imported; the message says why."""


class FileGame(NamedTuple):
    """A game of a file, and a note for people if a part of it is left out."""

    game: Restored
    left_out: str | None = None


def restored(
    game: Game, events: Sequence[AnyEvent], ended: float | None, token: tuple[bytes, bytes] | None = None
) -> Restored:
    """Return a game in the form that a store restores; the caller assigns an id if it has none."""
    return Restored(GameAppend(game.id, 0, events, game.summary(), None), ended, token)


#: Most games, and events, in one commit: one commit per game would take longer than everything else.
GAMES_A_BATCH = 200
EVENTS_A_BATCH = 20_000


class Importer:
    """An importer of games, many in one transaction: added games are durable after :meth:`flush`.

    :ivar imported: the number of durable games.
    """

    def __init__(self, store: SqlStore, first_new_id: int, *, may_renumber: bool = False) -> None:
        """:param first_new_id: the first new id; no game has it or a higher one.
        :param may_renumber: whether a game whose id belongs to another game gets a new id, rather than an error.
        """
        self._store = store
        self._next_id = first_new_id
        self._may_renumber = may_renumber
        self._waiting: dict[int, Restored] = {}
        self._events = 0
        self.imported = 0

    def add(self, game: Restored) -> Literal["imported", "there"] | int:
        """Import a game under its own id, or under a new id if that is allowed and its own is taken.

        :return: "imported"; "there" if the log has it already; or the new id.
        :raises BadGame: the id belongs to another game.
        """
        game_id = game.append.game_id
        there = self._there(game_id)
        if not there:
            self._put(game)
            return "imported"
        if there == list(game.append.events):
            return "there"
        if not self._may_renumber:
            raise BadGame(f"the log has another game {game_id}; --new-ids gives this one a new id")
        return self.add_new(game)

    def add_new(self, game: Restored) -> int:
        """Import a game under a new id, and return the id."""
        game_id, self._next_id = self._next_id, self._next_id + 1
        self._put(game._replace(append=structs.replace(game.append, game_id=game_id)))
        return game_id

    def flush(self) -> None:
        """Write the waiting games."""
        if self._waiting:
            self._store.restore(list(self._waiting.values()))
            self.imported += len(self._waiting)
        self._waiting = {}
        self._events = 0

    def _there(self, game_id: int) -> list[object]:
        """Return the events of a game that is in the log, or is waiting to be written; empty if there is none."""
        waiting = self._waiting.get(game_id)
        return list(self._store.load(game_id) if waiting is None else waiting.append.events)

    def _put(self, game: Restored) -> None:
        self._waiting[game.append.game_id] = game
        self._events += len(game.append.events)
        if len(self._waiting) >= GAMES_A_BATCH or self._events >= EVENTS_A_BATCH:
            self.flush()
