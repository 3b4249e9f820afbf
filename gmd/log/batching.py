"""Group commit: the appends of all games that wait together share one transaction.

While a thread writes one batch, the next one gathers. A game has at most one :class:`Pending` in each of the two.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import structlog
import trio

from gm_protocol.errors import GmError
from gm_protocol.messages import GameRow
from gm_protocol.state import Color
from gmd.games.events import AnyEvent
from gmd.games.game import Standing

from .interface import Deadline, GameQuery, LogFailed, SequenceConflict, TokenUse
from .store import Conflicts, GameAppend, Store, Told

logger = structlog.get_logger(__name__)

_T = TypeVar("_T")

#: Reads of the database at once. They run beside the writer; more of them would only wait for the interpreter.
READERS = 2
#: Tokens remembered with their games: more than can be used while one read of the database takes place.
RECENT_TOKENS = 10_000


class Pending:
    """The events of one game in one batch, and their :class:`~gmd.log.interface.Commit`."""

    __slots__ = ("_callbacks", "_settled", "done", "error", "events", "expected", "game_id", "standing", "token")

    def __init__(
        self, game_id: int, expected: int, standing: Callable[[], Standing], token: TokenUse | None = None
    ) -> None:
        self.game_id = game_id
        self.expected = expected
        self.events: list[AnyEvent] = []
        self.standing = standing
        self.token = token
        self.done = False
        self.error: GmError | None = None
        self._callbacks: list[Callable[[GmError | None], None]] = []
        self._settled: trio.Event | None = None

    @property
    def end(self) -> int:
        """How many events the game has once this is durable."""
        return self.expected + len(self.events)

    def as_append(self) -> GameAppend:
        """What is to be written, with the game's standing as of now."""
        return GameAppend(self.game_id, self.expected, self.events, self.standing(), self.token)

    def then(self, callback: Callable[[GmError | None], None]) -> None:
        if self.done or self.error is not None:
            callback(self.error)
        else:
            self._callbacks.append(callback)

    async def wait(self) -> None:
        await self.settled()
        if self.error is not None:
            raise self.error

    async def settled(self) -> None:
        """Return once it is durable or has failed."""
        if not self.done and self.error is None:
            if self._settled is None:
                self._settled = trio.Event()
            await self._settled.wait()

    def settle(self, error: GmError | None) -> None:
        """It is durable, or has failed."""
        self.done = error is None
        self.error = error
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(error)
        if self._settled is not None:
            self._settled.set()


class BatchingLog:
    """An event log on a :class:`~gmd.log.store.Store`."""

    def __init__(self, store: Store) -> None:
        """Blocks for a moment.

        :raises Exception: what the database raises where it cannot be read.
        """
        self._store = store
        self.database = store.database
        self._last_id = store.newest_game_id()
        self._gathering: dict[int, Pending] = {}
        self._writing: dict[int, Pending] = {}
        self._told: dict[Told, None] = {}
        self._tokens: OrderedDict[tuple[int | None, bytes], tuple[int, bytes]] = OrderedDict()
        self._some = trio.Event()
        self._stopping = False
        self._failing = False
        self._readers = trio.CapacityLimiter(READERS)

    # --- Writing ------------------------------------------------------------------------------------------------

    def next_game_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def append(
        self,
        game_id: int,
        expected_seq: int,
        events: Sequence[AnyEvent],
        standing: Callable[[], Standing],
        token: TokenUse | None = None,
    ) -> Pending:
        pending = self._gathering.get(game_id)
        before = pending or self._writing.get(game_id)
        if before is not None and before.end != expected_seq:
            raise SequenceConflict(game_id, expected_seq, before.end)
        if pending is None:
            pending = self._gathering[game_id] = Pending(game_id, expected_seq, standing, token)
            self._some.set()
        pending.events.extend(events)
        if token is not None:
            self._remember(token, game_id)
        return pending

    def told(self, game_id: int, seat: Color) -> None:
        self._told[Told(game_id, seat)] = None  # it goes with the next batch, and makes none of its own

    async def run(self) -> None:
        with trio.CancelScope(shield=True):  # :meth:`stop` ends it, when nobody appends any more
            while not self._stopping or self._gathering:
                if self._gathering:
                    await self._write_batch()
                else:
                    self._some = trio.Event()
                    await self._some.wait()
            if self._told:
                await self._attempt([], list(self._told))

    def stop(self) -> None:
        self._stopping = True
        self._some.set()

    async def _write_batch(self) -> None:
        """Write what has gathered, and settle it."""
        batch, self._gathering = self._gathering, {}
        told, self._told = list(self._told), {}
        self._writing = batch
        appends = [pending.as_append() for pending in batch.values()]
        while appends and (failed := await self._attempt(appends, told)):
            for game_id, error in failed.items():
                self._fail(batch.pop(game_id), error)
            appends = [append for append in appends if append.game_id in batch]
        self._writing = {}
        for pending in batch.values():
            pending.settle(None)

    async def _attempt(self, appends: Sequence[GameAppend], told: Sequence[Told]) -> dict[int, GmError]:
        """Write a batch; the games it failed for, and why. Where there are some, nothing was written."""
        try:
            await trio.to_thread.run_sync(self._store.write, appends, told)
        except Conflicts as conflicts:
            expected = {append.game_id: append.expected for append in appends}
            return {
                game_id: SequenceConflict(game_id, expected[game_id], actual)
                for game_id, actual in conflicts.actual.items()
            }
        except Exception as error:
            self._failing = True
            logger.error("the event log cannot be written", reason=_reason(error), games=len(appends))
            return {append.game_id: _failed("written", append.game_id) for append in appends}
        if self._failing:
            self._failing = False
            logger.warning("the event log can be written again")
        return {}

    def _fail(self, pending: Pending, error: GmError) -> None:
        """Nothing of this became durable, and what was appended behind it never will."""
        behind = self._gathering.pop(pending.game_id, None)
        for lost in filter(None, (pending, behind)):
            if lost.token is not None:
                self._forget(lost.token, lost.game_id)
            lost.settle(error)

    def _remember(self, token: TokenUse, game_id: int) -> None:
        self._tokens[token.player, token.token] = (game_id, token.content)
        if len(self._tokens) > RECENT_TOKENS:
            self._tokens.popitem(last=False)

    def _forget(self, token: TokenUse, game_id: int) -> None:
        if self._tokens.get((token.player, token.token)) == (game_id, token.content):
            del self._tokens[token.player, token.token]

    # --- Reading ------------------------------------------------------------------------------------------------

    async def load(self, game_id: int) -> list[AnyEvent]:
        for pending in filter(None, (self._writing.get(game_id), self._gathering.get(game_id))):
            await pending.settled()
        return await self._read(partial(self._store.load, game_id), game_id)

    async def made_under(self, player: int | None, token: bytes) -> tuple[int, bytes] | None:
        if (recent := self._tokens.get((player, token))) is not None:
            return recent
        found = await self._read(partial(self._store.made_under, player, token))
        return self._tokens.get((player, token), found)

    async def rows(self, query: GameQuery) -> list[GameRow]:
        await self._all_settled()
        return await self._read(partial(self._store.rows, query))

    async def deadlines(self) -> list[Deadline]:
        await self._all_settled()
        return await self._read(self._store.deadlines)

    async def due(self, player: int) -> list[int]:
        await self._all_settled()
        return await self._read(partial(self._store.due, player))

    async def _all_settled(self) -> None:
        """Wait for everything appended so far."""
        for batch in (self._writing, self._gathering):
            for pending in list(batch.values())[-1:]:  # the others are settled with it, or before
                await pending.settled()

    async def _read(self, read: Callable[[], _T], game_id: int | None = None) -> _T:
        try:
            return await trio.to_thread.run_sync(read, limiter=self._readers)
        except Exception as error:
            logger.error("the event log cannot be read", reason=_reason(error), game_id=game_id)
            raise _failed("read", game_id) from error


def _failed(what: str, game_id: int | None) -> LogFailed:
    game = "" if game_id is None else f"game {game_id}: "
    return LogFailed(f"{game}the event log cannot be {what}; nothing was done")


def _reason(error: Exception) -> str:
    """What went wrong, with its cause where a library has wrapped that."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}"
