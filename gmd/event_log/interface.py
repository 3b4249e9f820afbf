"""The interface of an event log for every kind of storage, and of its database for other data that is stored there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import chess

from gm_protocol.errors import GmError, Internal, ShuttingDown
from gm_protocol.messages import GameRow, GameStatus, Variant
from gmd.games.events import AnyEvent
from gmd.games.game import GameSummary

if TYPE_CHECKING:
    from sqlalchemy import Connection

_T = TypeVar("_T")


class Database(Protocol):
    """The games' database, for other data that is stored there."""

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Run work with a connection, in a thread.

        :raises gmd.event_log.interface.LogFailed: it failed.
        """

    async def write(self, work: Callable[[Connection], _T]) -> _T:
        """Run work in its own transaction, durably or not at all, between two batches of games.

        :raises gmd.event_log.interface.LogFailed: it failed; its message says if nobody knows what was written.
        """


#: Seconds for which the end of a game waits to be shown to its players: one who has not asked in a day never will.
RESULT_SECONDS = 86_400.0
#: Seconds after which clients send a request again that failed because the database could not be reached.
RETRY_SECONDS = 1.0


class Superseded(ShuttingDown):
    """The error of a daemon that another one has followed; clients connect again, to that one."""

    def __init__(self) -> None:
        super().__init__("another server has taken over; connect again")


class LogFailed(Internal):
    """A failure to write or read the log. Nothing was written; the daemon's own log says why."""


class LogUnreachable(LogFailed):
    """A database that cannot be reached now, as while it restarts. Nothing was done; the request may be sent again."""

    retry_after = RETRY_SECONDS


class OutcomeInDoubt(LogFailed):
    """A lost connection to the database: nobody knows whether the request was carried out.

    Clients send it again where that is safe.
    """

    retry_after = RETRY_SECONDS


class GameDamaged(LogFailed):
    """A game whose events in the log are incomplete, or too many. Other games are not affected.

    :ivar what: what is wrong, for operators only: it reveals the number of events, including senses.
    """

    def __init__(self, game_id: int, what: str) -> None:
        super().__init__(
            f"game {game_id}: some of its events are missing in the log, so it cannot be continued; gmd check says more"
        )
        self.what = what


class SequenceConflict(Internal):
    """An append that expected another number of events than the log has. Nothing was written."""

    def __init__(self, game_id: int, expected: int, actual: int) -> None:
        super().__init__(f"game {game_id}: append expected {expected} events in the log, which has {actual}")
        self.game_id = game_id
        self.expected = expected
        self.actual = actual


class Commit(Protocol):
    """An append that will be durable or fail. Appends of one game in the same batch may share one."""

    @property
    def done(self) -> bool:
        """Whether it is already durable."""

    def then(self, callback: Callable[[GmError | None], None]) -> None:
        """Call back once it is settled (now, if it is already): with None if it is durable, else with the error."""

    async def wait(self) -> None:
        """Wait until it is durable.

        :raises gm_protocol.errors.GmError: it failed; nothing of it was written.
        """


class TokenUse(NamedTuple):
    """The token under which a game was created, so that a retry of the request finds the game."""

    player: int | None
    #: A digest of the token, and one of the request: other content under the same token is another request.
    token: bytes
    content: bytes


class GameQuery(NamedTuple):
    """The filter of a listing; None matches any value."""

    player: int | None = None
    status: GameStatus | None = None
    variant: Variant | None = None
    #: Only games with a lower id.
    before: int | None = None
    limit: int = 100


class RankedResult(NamedTuple):
    """A count of ranked games with the same result between the same versions of two players' bots.

    :ivar winner: the side that won; None for draws.
    """

    white: int
    white_version: int
    black: int
    black_version: int
    winner: chess.Color | None
    games: int = 1


class Ranked(NamedTuple):
    """The ranked games of a log.

    :ivar results: counts of those that are over and were not called off; each combination once, in no order.
    :ivar on: those in progress, or waiting for their players.
    """

    results: list[RankedResult]
    on: list[Playing]


class Pruned(NamedTuple):
    """A game that was removed, its players, and its result for ratings, if it had one."""

    game_id: int
    players: tuple[int | None, int | None]
    ranked: RankedResult | None = None


class Deadline(NamedTuple):
    """A live game with a clock, and the seconds left to its side to move; None before both seats' first contact."""

    game_id: int
    seconds_left: float | None


class Playing(NamedTuple):
    """A live game and its players."""

    game_id: int
    white: int | None
    black: int | None


class Unanswered(NamedTuple):
    """A game that waits for a seat to be taken, or for a seat's first contact; with all its events."""

    game_id: int
    events: list[AnyEvent]


class EventLog(Protocol):
    """An append-only log of every game's events."""

    @property
    def database(self) -> Database | None:
        """The database of the log, for other data that is stored there; None in memory."""

    @property
    def failure(self) -> str | None:
        """The reason why the log cannot be written, for operators; None if it can."""

    async def run(self) -> None:
        """Write appends until stopped or cancelled; settle all appends before returning.

        Nothing becomes durable unless this runs. Appends after its return fail.
        """

    def stop(self) -> None:
        """Make :meth:`run` return."""

    def next_game_id(self) -> int:
        """Return an id that no game has had."""

    def append(
        self,
        game_id: int,
        expected_seq: int,
        events: Sequence[AnyEvent],
        summary: Callable[[], GameSummary],
        token: TokenUse | None = None,
    ) -> Commit:
        """Append a game's next events, all or none, with its summary.

        If it fails, so do the appends to the game that were made before the failure was known.

        :param expected_seq: how many events the game has in the log so far. The first event is its ``Created``.
        :param summary: returns the game's summary after all events appended so far; called when it is needed.
        :raises SequenceConflict: the game has another number of events, and that is already known; otherwise the commit
            fails with this error.
        """

    def result_delivered(self, game_id: int, seat: chess.Color) -> None:
        """Record, with some later batch, that a seat's player has been shown the end of a game; a crash may lose it."""

    async def load(self, game_id: int) -> list[AnyEvent]:
        """Return all durable events of a game, in order; none if there is no such game.

        :raises GameDamaged: some of them are missing.
        """

    async def made_under(self, player: int | None, token: bytes, peer: str = "") -> tuple[int, bytes] | None:
        """Return the game created under a token, durable or not yet, and its :attr:`TokenUse.content`.

        :param peer: the client, as host:port: its address has one read at a time; an empty one has no limit.

        No append can happen between the return and what the caller does next without waiting.
        """

    async def rows(self, query: GameQuery, peer: str = "") -> list[GameRow]:
        """Return a page of games, newest first, that includes all appends before the call.

        :param peer: as for :meth:`made_under`.
        """

    async def deadlines(self) -> list[Deadline]:
        """Return every live game with a clock; a game that has not begun is not live."""

    async def playing(self) -> list[Playing]:
        """Return every live game of a registered player; called once, at the start."""

    async def unanswered(self) -> list[Unanswered]:
        """Return every game that waits for players and has a registered one, oldest first; called once, at the start.

        The game is open, or live with a clock and a seat without first contact. A seat belongs to a registered player,
        or is kept for one.
        """

    async def ranked(self) -> Ranked:
        """Return all ranked games, without reading others; called once, at the start."""

    async def live_games(self) -> int:
        """Return the number of games that are not over; called once, at the start, because it counts all of them."""

    async def prune(self, seconds: float) -> list[Pruned]:
        """Remove some of the games that ended at least so many seconds ago, and return them.

        A game's events and token are removed with it; its id is never reused. Each call removes so few games that an
        append waits no longer than for another commit: call it until it returns none.

        :raises LogFailed: the log could not be written. Nothing was removed.
        """

    async def due(self, player: int, peer: str = "") -> list[int]:
        """Return the games that wait for a player: in its turn, as an invitation, or over and not yet shown to it.

        The one that has waited longest comes first. All appends before the call count. Ends are shown for
        :data:`RESULT_SECONDS`.

        :param peer: as for :meth:`made_under`.
        """
