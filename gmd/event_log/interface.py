"""What an event log must do, whatever keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import chess

from gm_protocol.errors import GmError, Internal
from gm_protocol.messages import GameRow, GameStatus, Variant
from gmd.games.events import AnyEvent
from gmd.games.game import GameSummary

if TYPE_CHECKING:
    from .store import Database

#: How long the end of a game waits to be told to its players, in seconds: whoever has not asked in a day never will.
UNTOLD_SECONDS = 86_400.0


class LogFailed(Internal):
    """The log could not be written or read. Nothing was written; the daemon's own log says why."""


class GameDamaged(LogFailed):
    """What the log has of a game is not all of it, or not only that. Nothing is wrong with other games.

    :ivar what: what is wrong, for those who run the daemon: it tells how many events there are, senses among them.
    """

    def __init__(self, game_id: int, what: str) -> None:
        super().__init__(
            f"game {game_id}: the log has not all of its events, so it cannot be played on; gmd check says more"
        )
        self.what = what


class SequenceConflict(Internal):
    """Events were appended behind another sequence number than the log has. Nothing was written."""

    def __init__(self, game_id: int, expected: int, actual: int) -> None:
        super().__init__(f"game {game_id}: append expected {expected} events in the log, which has {actual}")
        self.game_id = game_id
        self.expected = expected
        self.actual = actual


class Commit(Protocol):
    """An append on its way to durability. Appends of one game that will be durable together may share one."""

    @property
    def done(self) -> bool:
        """Whether it is durable already."""

    def then(self, callback: Callable[[GmError | None], None]) -> None:
        """Call back once it is settled, at once if it is so already: with None if it is durable, else with why not."""

    async def wait(self) -> None:
        """Return once it is durable.

        :raises gm_protocol.errors.GmError: it failed; nothing of it was written.
        """


class TokenUse(NamedTuple):
    """A game was made under a token: so the same request, sent again, finds it."""

    player: int | None
    #: A digest of the token, and one of what was asked for: other content under the same token is another request.
    token: bytes
    content: bytes


class GameQuery(NamedTuple):
    """Which games a listing is of; None leaves a field open."""

    player: int | None = None
    status: GameStatus | None = None
    variant: Variant | None = None
    #: Only games of a lower id.
    before: int | None = None
    limit: int = 100


class RankedResult(NamedTuple):
    """How many ranked games ended in one way between two versions of players' bots.

    :ivar winner: the side that won; None where they were drawn.
    """

    white: int
    white_version: int
    black: int
    black_version: int
    winner: chess.Color | None
    games: int = 1


class Ranked(NamedTuple):
    """The ranked games of a log.

    :ivar results: those that are over and were not called off: counts, each combination once, in no order.
    :ivar on: those that are on, or wait for their players.
    """

    results: list[RankedResult]
    on: list[Playing]


class Pruned(NamedTuple):
    """A game that was removed, whose it was, and what it was for ratings, if anything."""

    game_id: int
    players: tuple[int | None, int | None]
    ranked: RankedResult | None = None


class Deadline(NamedTuple):
    """A live game with a clock, and how many seconds its side to move has left; None where a seat is unheard."""

    game_id: int
    seconds_left: float | None


class Playing(NamedTuple):
    """A live game, and who plays it."""

    game_id: int
    white: int | None
    black: int | None


class Unanswered(NamedTuple):
    """A game that waits for somebody to take a seat, or to be heard from for the first time; with all its events."""

    game_id: int
    events: list[AnyEvent]


class EventLog(Protocol):
    """An append-only log of every game's events."""

    @property
    def database(self) -> Database | None:
        """Where they are kept, for what else is to be kept there; None in memory."""

    @property
    def failure(self) -> str | None:
        """Why the log cannot be written, for those who run the daemon; None where it can."""

    async def run(self) -> None:
        """Write what is appended, until stopped or cancelled; then all that was appended is settled before it returns.

        Where nothing runs this, nothing becomes durable. What is appended after it has returned fails.
        """

    def stop(self) -> None:
        """Let :meth:`run` return."""

    def next_game_id(self) -> int:
        """An id no game has had."""

    def append(
        self,
        game_id: int,
        expected_seq: int,
        events: Sequence[AnyEvent],
        summary: Callable[[], GameSummary],
        token: TokenUse | None = None,
    ) -> Commit:
        """Append a game's next events, all or none, and note how it stands.

        If it fails, so does every later append to the game that was made before the failure was known.

        :param expected_seq: how many events the game has in the log so far. A game's first is its ``Created``.
        :param standing: how the game stands with all events appended so far; called when it is needed.
        :raises SequenceConflict: it has another number of them, and that is known already; else the commit fails with
            this.
        """

    def result_delivered(self, game_id: int, seat: chess.Color) -> None:
        """Note, by and by, that a seat's player has been shown the end of a game: a crash may lose it."""

    async def load(self, game_id: int) -> list[AnyEvent]:
        """All durable events of a game, in order; none if there is no such game.

        :raises GameDamaged: some of them are missing.
        """

    async def made_under(self, player: int | None, token: bytes) -> tuple[int, bytes] | None:
        """The game made under a token, be it durable or on its way, and its :attr:`TokenUse.content`.

        No append can come between its answer and what the caller does next without waiting.
        """

    async def rows(self, query: GameQuery) -> list[GameRow]:
        """A page of games, newest first, with everything appended before it was asked for."""

    async def deadlines(self) -> list[Deadline]:
        """Every live game with a clock; one that has not begun is not live."""

    async def playing(self) -> list[Playing]:
        """Every live game that some registered player plays; asked once, at the start."""

    async def unanswered(self) -> list[Unanswered]:
        """Every game that waits for a registered player, oldest first; asked once, at the start.

        It is open, or live with a clock and some seat has not been heard from; and some seat is a registered player's,
        or kept for one.
        """

    async def ranked(self) -> Ranked:
        """All ranked games; asked once, at the start. Games that are not ranked are not looked at."""

    async def live_games(self) -> int:
        """How many games are not over; asked once, at the start, for it takes as long as there are such games."""

    async def prune(self, seconds: float) -> list[Pruned]:
        """Remove some of the games that ended so many seconds ago or before.

        With a game go its events and the token it was made under; its id is given to no other. So few are removed at
        once that an append waits no longer than for another's commit: call it until it has nothing more to remove.

        :raises LogFailed: the log could not be written. Nothing was removed.
        """

    async def due(self, player: int) -> list[int]:
        """The live games where a player is to act, those it is invited to, and those ended lately without its having
        been told.

        The one that has waited longest comes first; everything appended before is taken into account.
        """
