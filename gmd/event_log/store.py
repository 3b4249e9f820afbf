"""The interface of a database for the event log. Calls block; :mod:`gmd.event_log.batching` makes them in threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import chess
from msgspec import Struct

from gm_protocol.messages import GameRow
from gmd.event_log.interface import Deadline, GameDamaged, GameQuery, Pruned, TokenUse
from gmd.games.events import AnyEvent
from gmd.games.game import GameSummary

if TYPE_CHECKING:
    from sqlalchemy import Connection


_T = TypeVar("_T")

#: The highest id that a game may have, because some clients read numbers as doubles. A higher id is damage.
LAST_GAME_ID = (1 << 53) - 1


#: Selects the row of the server, and locks it until the transaction's end, if the term is this one.
FENCE = "SELECT 1 FROM server WHERE id = 1 AND term = CAST(%(term)s AS bigint) FOR SHARE"
FENCE_OF_SQLALCHEMY = FENCE.replace("%(term)s", ":term")


class Conflicts(Exception):
    """A batch with games that have another number of events in the log than expected. Nothing of it was written.

    :ivar actual: the number of events in the log, by game.
    """

    def __init__(self, actual: Mapping[int, int]) -> None:
        super().__init__(f"the log has unexpected numbers of events of these games: {dict(actual)}")
        self.actual = actual


class Fenced(Exception):
    """A write under a term that is over: another daemon serves the database. Nothing was written."""


class Unreachable(Exception):
    """A database that could not be reached for long. The cause is the driver's error. Nothing was done."""


class OutcomeUnknown(Exception):
    """A lost connection to the database during a commit, which may or may not have happened."""


class GameAppend(Struct, frozen=True, array_like=True, gc=False):
    """A game's next events, and its summary after them. One is made for every move; its JSON is an array."""

    game_id: int
    expected: int
    events: Sequence[AnyEvent]
    summary: GameSummary
    token: TokenUse | None


class Restored(NamedTuple):
    """A game that was played elsewhere and is imported."""

    append: GameAppend
    #: When it ended, in seconds since 1970; None while it is in progress.
    ended: float | None
    #: The digest under which a token is stored, with its content.
    token: tuple[bytes, bytes] | None


class ResultDelivered(NamedTuple):
    """A note that a seat's player has been shown the end of a game."""

    game_id: int
    seat: chess.Color


class Store(Protocol):
    """A database of games.

    ``write`` and ``prune`` are called by one thread at a time; the other methods may be called at the same time.
    """

    def write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        """Write a batch durably in one transaction, all or nothing; no two appends are for the same game.

        :raises Conflicts: some games have conflicts; nothing was written.
        :raises Fenced: another daemon serves the database; nothing was written.
        :raises OutcomeUnknown: the connection to the database was lost, and it is not known whether it was written.
        :raises Unreachable: the database could not be reached for long; nothing was written.
        """

    def prune(self, seconds: float) -> list[Pruned]:
        """Remove some long finished games in one transaction; see :meth:`gmd.event_log.interface.EventLog.prune`."""

    def look(self) -> None:
        """Check that the files that are written are still in place; raise the errors that :meth:`write` would."""

    def probe(self) -> None:
        """Write something durably that leaves nothing behind; raise the errors that :meth:`write` would."""

    def patiently(self, read: Callable[[], _T]) -> _T:
        """Return what a read returns; try again, for a while, if the database cannot be reached.

        :raises Unreachable: it could not be reached for long.
        """

    def read(self, work: Callable[[Connection], _T]) -> _T:
        """Run other work with a connection."""

    def write_beside(self, work: Callable[[Connection], _T]) -> _T:
        """Run other work in a transaction. Called by the thread that writes."""

    def newest_game_id(self) -> int:
        """Return the highest id that a game has, or had before it was removed; 0 if there was none."""

    def load(self, game_id: int) -> list[AnyEvent]:
        """Return a game's events, in order."""

    def made_under(self, player: int | None, token: bytes) -> tuple[int, bytes] | None:
        """Return the game created under a token, and the token's content."""

    def rows(self, query: GameQuery) -> list[GameRow]:
        """Return a page of games, newest first."""

    def deadlines(self) -> list[Deadline]:
        """Return every live game with a clock."""

    def live_games(self) -> int:
        """Return the number of games that are not over."""

    def due(self, player: int) -> list[int]:
        """Return the games that wait for a player; see :meth:`gmd.event_log.interface.EventLog.due`."""

    def hurry(self) -> None:
        """Stop waiting for other processes, even in a write under way. Called by any thread."""

    def close(self) -> None:
        """Close the database."""


class Committer(Protocol):
    """A writer of batches that does not block the interpreter: one at a time; it may refuse a batch."""

    def put(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> bool:
        """Begin to write a batch durably in one transaction, all or nothing; no other may be under way.

        :returns: False if it is refused; then nothing was begun.
        """

    async def run(self, answered: Callable[[bool], None]) -> None:
        """Take answers until cancelled, or until there will be no more.

        :param answered: called for each batch with whether it is durable. If not, :meth:`Store.write` finds the reason.
        """


def check_complete(game_id: int, numbers: Sequence[int], length: int) -> None:
    """Check that no events of a game are missing: a game with a gap might replay without an error.

    :raises GameDamaged: the events' numbers are not exactly those from 0 up to the length.
    """
    if numbers == list(range(length)):
        return
    odd = min({*range(length)} ^ {*numbers})
    raise GameDamaged(game_id, f"it has {length} events, and event {odd} is {'missing' if odd < length else 'there'}")
