"""The games at hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

from gm_protocol.errors import NoSuchGame
from gmd.games import views
from gmd.games.chess import ChessGame
from gmd.games.events import Created
from gmd.log.interface import Commit, EventLog


class Table:
    """A game being played, and what this process knows of it beside its events."""

    __slots__ = ("commit", "game", "opened", "row", "seq", "since")

    def __init__(self, game: ChessGame, seq: int, opened: float) -> None:
        self.game = game
        #: Makes the game's row in listings.
        self.row = partial(views.game_row, game)
        #: How many of its events the log has, or is being given.
        self.seq = seq
        #: The latest append; None where all came out of the log. No reply that shows the game leaves before it.
        self.commit: Commit | None = None
        #: When the side to move's clock began to run, in trio's time; never, while the move before is not durable.
        self.since = inf
        #: When the game was made or loaded, in trio's time.
        self.opened = opened


class Shelf:
    """Every game asked for, loaded from the log by replay when it is not here."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._tables: dict[int, Table] = {}
        #: The game of an id, if it is here.
        self.at_hand: Callable[[int], Table | None] = self._tables.get

    def put(self, table: Table) -> None:
        """Keep a new game at hand."""
        self._tables[table.game.id] = table

    def drop(self, game_id: int) -> None:
        """Forget a game; the log has it."""
        self._tables.pop(game_id, None)

    async def load(self, game_id: int, now: float) -> Table:
        """The game out of the log.

        :raises NoSuchGame: the log has none of that id.
        """
        events = await self._log.load(game_id)
        if not events:
            raise NoSuchGame(f"game_id: there is no game {game_id}")
        created, *others = events
        assert isinstance(created, Created)
        game = ChessGame(created)
        game.id = game_id
        for event in others:
            game.apply(event)
        table = self._tables[game_id] = Table(game, len(events), now)
        if game.ticking:
            table.since = now
        return table
