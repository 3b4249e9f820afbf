"""The arbiter: takes one command through one game, into the log, and to everyone who waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf

import structlog
import trio

from gm_protocol.errors import Internal
from gmd.alarms import Alarms
from gmd.games.chess import ChessGame
from gmd.games.events import AnyEvent
from gmd.games.game import Absent, Command, Flag, Hear, Outcome
from gmd.log.interface import EventLog, TokenUse
from gmd.shelf import Shelf, Table
from gmd.turns import Turns
from gmd.watchers import Watchers

logger = structlog.get_logger(__name__)


class Arbiter:
    """Every change of every game goes through here. Times are trio's (:func:`trio.current_time`), in seconds."""

    def __init__(self, log: EventLog, start_seconds: float) -> None:
        """:param start_seconds: how long a seat of a game with a clock may stay unheard."""
        self.log = log
        self.watchers = Watchers()
        self.turns = Turns()
        self.alarms = Alarms(self._on_alarm)
        self._shelf = Shelf(log)
        self._start_seconds = start_seconds
        #: The game of an id, if it needs no loading.
        self.at_hand = self._shelf.at_hand

    async def table(self, game_id: int) -> Table:
        """The game of an id.

        :raises NoSuchGame: there is none.
        """
        return self.at_hand(game_id) or await self._load(game_id)

    def open(self, game: ChessGame, events: Sequence[AnyEvent], token: TokenUse | None) -> Table:
        """Take in a new game that its first events have been applied to."""
        game.id = self.log.next_game_id()
        table = Table(game, 0, trio.current_time())
        self._shelf.put(table)
        self._append(table, events, token)
        return table

    def act(self, table: Table, command: Command, at: float) -> Outcome:
        """Let a command happen.

        :param at: when it arrived: the thinking it ends is charged up to then.
        """
        outcome = table.game.decide(command, self.thought(table, at))
        if outcome.events:
            for event in outcome.events:
                table.game.apply(event)
            self._append(table, outcome.events)
        return outcome

    def hear(self, table: Table, player: int, at: float) -> None:
        """A player has sent a request that names the game: mark its seats heard from."""
        if table.game.awaited:
            for seat in table.game.seats(player):
                self.act(table, Hear(seat), at)

    def look(self, table: Table, at: float) -> None:
        """Bring the game up to a time: a flag that has fallen by then ends it."""
        if table.game.clock is not None:
            self.act(table, Flag(), at)

    def thought(self, table: Table, at: float) -> float:
        """Seconds the clock of the side to move has been running."""
        game = table.game
        return max(0.0, at - table.since) if game.clock is not None and game.ticking else 0.0

    async def _load(self, game_id: int) -> Table:
        table = await self._shelf.load(game_id, trio.current_time())
        self._set_alarm(table)
        return table

    def _append(self, table: Table, events: Sequence[AnyEvent], token: TokenUse | None = None) -> None:
        game = table.game
        table.since = inf
        try:
            table.commit = self.log.append(game.id, table.seq, events, table.row, token)
        except Exception as error:
            # What was applied is not in the log: the game in memory is wrong, the log is right.
            self._shelf.drop(game.id)
            logger.exception("append failed", game_id=game.id)
            raise Internal(f"game {game.id}: the event log failed; nothing was done") from error
        table.seq += len(events)
        if table.commit.done:
            self._durable(table)
        else:
            table.commit.then(partial(self._durable, table))

    def _durable(self, table: Table) -> None:
        """A game's latest events cannot be lost any more: start the next clock and tell whoever waits."""
        game = table.game
        table.since = trio.current_time()
        self.turns.update(game)
        if game.clock is not None:
            self._set_alarm(table)
        self.watchers.ring(game.id, game.players)

    def _set_alarm(self, table: Table) -> None:
        game = table.game
        if game.clock is not None and game.ticking:
            self.alarms.set(game.id, table.since + game.clock.left(game.turn))
        elif game.awaited:
            self.alarms.set(game.id, table.opened + self._start_seconds)
        else:
            self.alarms.clear(game.id)

    def _on_alarm(self, game_id: int) -> None:
        table = self._shelf.at_hand(game_id)
        if table is None:
            return
        try:
            self.act(table, Absent() if table.game.awaited else Flag(), trio.current_time())
        except Internal:
            return  # it has been logged, and the game dropped: its clock runs again once it is asked for
        except Exception:
            logger.exception("alarm failed", game_id=game_id)  # one game's trouble is not the others'
            return
        if not table.game.over:
            self._set_alarm(table)
