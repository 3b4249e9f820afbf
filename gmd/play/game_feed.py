"""The feed of games: announces what happens in games to those who have registered for it."""

from __future__ import annotations

from collections.abc import Callable

from gmd.event_log.interface import Pruned
from gmd.games.game_note import GameNote


class GameFeed:
    """News of games, each once it is durable. The arbiter publishes them."""

    def __init__(self) -> None:
        self._on_seats: list[Callable[[GameNote], None]] = []
        self._on_begun: list[Callable[[GameNote], None]] = []
        self._on_over: list[Callable[[GameNote], None]] = []
        self._on_pruned: list[Callable[[Pruned], None]] = []
        self._on_called_off: list[Callable[[GameNote, int], None]] = []
        self._on_ready: list[Callable[[GameNote, int], None]] = []

    # --- Registering --------------------------------------------------------------------------------------------

    def when_seats_change(self, callback: Callable[[GameNote], None]) -> None:
        """Call back with every game that is created, joined or ended."""
        self._on_seats.append(callback)

    def when_begun(self, callback: Callable[[GameNote], None]) -> None:
        """Call back once for each game whose seats are both taken."""
        self._on_begun.append(callback)

    def when_over(self, callback: Callable[[GameNote], None]) -> None:
        """Call back once for each game that ends, or is called off before it begins."""
        self._on_over.append(callback)

    def when_pruned(self, callback: Callable[[Pruned], None]) -> None:
        """Call back for each game that is removed from the log."""
        self._on_pruned.append(callback)

    def when_called_off(self, callback: Callable[[GameNote, int], None]) -> None:
        """Call back with every game that a player calls off, and that player; it may not be durable yet."""
        self._on_called_off.append(callback)

    def when_ready(self, callback: Callable[[GameNote, int], None]) -> None:
        """Call back with a game and a player who was shown it; it may not be durable yet."""
        self._on_ready.append(callback)

    # --- Publishing ---------------------------------------------------------------------------------------------

    def seats_changed(self, note: GameNote, *, began: bool, ended: bool) -> None:
        """Announce a game that was created, joined or ended.

        :param began: whether both its seats are taken now and were not before.
        :param ended: whether it is over now and was not before.
        """
        for callback in self._on_seats:
            callback(note)
        if began:
            for callback in self._on_begun:
                callback(note)
        if ended:
            for callback in self._on_over:
                callback(note)

    def pruned(self, pruned: Pruned) -> None:
        """Announce that a game was removed from the log."""
        for callback in self._on_pruned:
            callback(pruned)

    def called_off(self, note: GameNote, player: int) -> None:
        """Announce that a player has called a game off."""
        for callback in self._on_called_off:
            callback(note, player)

    def ready(self, note: GameNote, player: int) -> None:
        """Announce that a player was shown its game."""
        for callback in self._on_ready:
            callback(note, player)
