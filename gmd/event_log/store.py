"""What a database must do for the event log. Its calls block; :mod:`gmd.event_log.batching` makes them in threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import chess
from msgspec import Struct

from gm_protocol.messages import GameRow
from gmd.games.events import AnyEvent
from gmd.games.game import GameSummary

from .interface import Deadline, GameDamaged, GameQuery, Pruned, TokenUse

if TYPE_CHECKING:
    from sqlalchemy import Connection


_T = TypeVar("_T")


class Conflicts(Exception):
    """Some games of a batch have other numbers of events in the log than it expects. Nothing of it was written.

    :ivar actual: how many each of them has.
    """

    def __init__(self, actual: Mapping[int, int]) -> None:
        super().__init__(f"the log is not where these games are expected to be: {dict(actual)}")
        self.actual = actual


class GameAppend(Struct, frozen=True, array_like=True, gc=False):
    """A game's next events, and how it stands with them. One is made for every move, and JSON of it is an array."""

    game_id: int
    expected: int
    events: Sequence[AnyEvent]
    summary: GameSummary
    token: TokenUse | None


class Restored(NamedTuple):
    """A game that was played elsewhere."""

    append: GameAppend
    #: When it ended, in seconds since 1970; None while it is on.
    ended: float | None
    #: The digest that a token is kept by, with its content.
    token: tuple[bytes, bytes] | None


class ResultDelivered(NamedTuple):
    """A seat's player has been shown the end of a game."""

    game_id: int
    seat: chess.Color


class Database(Protocol):
    """Where games are kept, for what else is kept there."""

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Do something with a connection, in a thread.

        :raises gmd.event_log.interface.LogFailed: it failed.
        """

    async def write(self, work: Callable[[Connection], _T]) -> _T:
        """Do something in a transaction of its own, durably or not at all, between two batches of the games'.

        :raises gmd.event_log.interface.LogFailed: it failed; nothing was done.
        """


class Store(Protocol):
    """A database of games.

    ``write`` and ``prune`` are called by one thread at a time; the others may be called beside it.
    """

    def write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        """Make all of it durable in one transaction, or nothing; no two appends are to one game.

        :raises Conflicts: nothing was written because of these games.
        """

    def prune(self, seconds: float) -> list[Pruned]:
        """Remove some long finished games in one transaction; see :meth:`gmd.event_log.interface.EventLog.prune`."""

    def look(self) -> None:
        """Look whether what is written is where it will be found: raises what :meth:`write` would."""

    def probe(self) -> None:
        """Write something durably that leaves nothing behind: raises what :meth:`write` would."""

    def read(self, work: Callable[[Connection], _T]) -> _T:
        """Do something else with a connection."""

    def write_beside(self, work: Callable[[Connection], _T]) -> _T:
        """Do something else in a transaction. Called by the thread that writes."""

    def newest_game_id(self) -> int:
        """The highest id that a game has, or had before it was removed; 0 where there was none."""

    def load(self, game_id: int) -> list[AnyEvent]:
        """A game's events, in order."""

    def made_under(self, player: int | None, token: bytes) -> tuple[int, bytes] | None:
        """The game made under a token, and the token's content."""

    def rows(self, query: GameQuery) -> list[GameRow]:
        """A page of games, newest first."""

    def deadlines(self) -> list[Deadline]:
        """Every live game with a clock."""

    def live_games(self) -> int:
        """How many games are not over."""

    def due(self, player: int) -> list[int]:
        """The games that wait for a player, as :meth:`gmd.event_log.interface.EventLog.due` has them."""

    def hurry(self) -> None:
        """Wait for no other process any more, in what is being written either: called by any thread."""

    def close(self) -> None:
        """Let go of the database."""


class Committer(Protocol):
    """Writes batches without holding up the interpreter: one at a time, and none that it does not like."""

    def put(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> bool:
        """Begin to make all of it durable in one transaction, or nothing, while nothing else is under way.

        :returns: False where it cannot: then nothing was begun.
        """

    async def run(self, answered: Callable[[bool], None]) -> None:
        """Take answers until cancelled, or for as long as there will be any.

        :param answered: called for each batch: with whether it is durable. Else :meth:`Store.write` says what it is.
        """


def check_complete(game_id: int, numbers: Sequence[int], length: int) -> None:
    """Refuse to play on where events are missing: what is left might well apply to each other.

    :raises GameDamaged: the numbers of a game's events are not those from 0 to its length.
    """
    if numbers == list(range(length)):
        return
    odd = min({*range(length)} ^ {*numbers})
    raise GameDamaged(game_id, f"it has {length} events, and event {odd} is {'missing' if odd < length else 'there'}")
