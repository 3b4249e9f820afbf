"""What an event log must do, whatever keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from gm_protocol.messages import GameRow, GameStatus, Variant
from gmd.games.events import AnyEvent


class SequenceConflict(Exception):
    """Events were appended behind another sequence number than the log has. Nothing was written."""

    def __init__(self, game_id: int, expected: int, actual: int) -> None:
        super().__init__(f"game {game_id}: append expected {expected} events in the log, which has {actual}")
        self.game_id = game_id
        self.expected = expected
        self.actual = actual


class Commit(Protocol):
    """An append on its way to durability."""

    @property
    def done(self) -> bool:
        """Whether it is durable already."""

    def then(self, callback: Callable[[], None]) -> None:
        """Call back once it is durable: at once if it is so already, never if it fails."""

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


class EventLog(Protocol):
    """An append-only log of every game's events."""

    def next_game_id(self) -> int:
        """An id no game has had."""

    def append(
        self,
        game_id: int,
        expected_seq: int,
        events: Sequence[AnyEvent],
        row: Callable[[], GameRow],
        token: TokenUse | None = None,
    ) -> Commit:
        """Append a game's next events, all or none, and replace its row.

        :param row: makes the game's row with all events appended so far; called when it is needed.

        :param expected_seq: how many events the game has in the log so far.
        :raises SequenceConflict: it has another number of them.
        """

    async def load(self, game_id: int) -> list[AnyEvent]:
        """All events of a game, in order; none if there is no such game."""

    async def made_under(self, player: int | None, token: bytes) -> tuple[int, bytes] | None:
        """The game made under a token, and what was asked for then."""

    async def rows(self, query: GameQuery) -> list[GameRow]:
        """A page of games, newest first."""
