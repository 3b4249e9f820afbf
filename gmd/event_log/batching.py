"""Group commit: appends of all games that wait at the same time share one transaction.

Appends are handed over once the event loop has nothing else to do, or after a short time. While one batch is being
written, the next one gathers. A game has at most one :class:`Pending` in each of the two batches. Games that cannot be
written do not keep the others from it. An outage is logged at its start, at intervals and at its end.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import chess
import trio

from gm_protocol.errors import GmError
from gm_protocol.messages import GameRow
from gmd.event_log.batch_delay import BatchDelay
from gmd.event_log.interface import (
    Deadline,
    GameDamaged,
    GameQuery,
    LogFailed,
    LogUnreachable,
    OutcomeInDoubt,
    Playing,
    Pruned,
    Ranked,
    SequenceConflict,
    TokenUse,
    Unanswered,
)
from gmd.event_log.pending import Pending, Settling, divided
from gmd.event_log.sql import playing, ranked, unanswered
from gmd.event_log.store import Committer, Conflicts, GameAppend, OutcomeUnknown, ResultDelivered, Store, Unreachable
from gmd.event_log.workers import Workers, WriterThread
from gmd.games.events import AnyEvent
from gmd.games.game import GameSummary
from gmd.logger import get_logger
from gmd.net.addresses import source_of
from gmd.net.metrics import Metrics
from gmd.net.turn_ends import calling_at_turn_ends

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Batch(NamedTuple):
    """The data of one transaction."""

    appends: Sequence[GameAppend]
    delivered: Sequence[ResultDelivered]


class Result(NamedTuple):
    """The result of a batch: the games that were not written, each with its error, and the database's error if any."""

    failed: Mapping[int, GmError]
    error: Exception | None


def write_batch(store: Store, batch: Batch) -> Result:
    """Write a batch, except games that have conflicts. Called in the writer's thread."""
    refused: dict[int, GmError] = {}
    appends, delivered = batch
    while True:
        try:
            store.write(appends, delivered)
        except Conflicts as conflicts:
            refused |= {append.game_id: error for append in appends if (error := _conflict(append, conflicts))}
        except Exception as error:
            return Result(refused | {append.game_id: _failure(error, append.game_id) for append in appends}, error)
        else:
            return Result(refused, None)
        appends = [append for append in appends if append.game_id not in refused]


def failed(what: str, game_id: int | None, why: Exception) -> LogFailed:
    """Return the error of a game, or of everything, that cannot be written or read."""
    game = "" if game_id is None else f"game {game_id}: "
    if isinstance(why, Unreachable):
        return LogUnreachable(f"{game}the database cannot be reached now; nothing was done: send the request again")
    return LogFailed(f"{game}the event log cannot be {what}; nothing was done")


def lost_by_failure(game_id: int) -> OutcomeInDoubt:
    """Return the error of an append that was under way when the event log failed."""
    return OutcomeInDoubt(
        f"game {game_id}: the server failed, and it is not known whether the request was carried out: look at the "
        "game, or send the request again with the same ply or token"
    )


def _conflict(append: GameAppend, conflicts: Conflicts) -> GmError | None:
    actual = conflicts.actual.get(append.game_id)
    return None if actual is None else SequenceConflict(append.game_id, append.expected, actual)


def _failure(error: Exception, game_id: int) -> LogFailed:
    if not isinstance(error, OutcomeUnknown):
        return failed("written", game_id, error)
    return OutcomeInDoubt(
        f"game {game_id}: the connection to the database was lost, and it is not known whether the request was "
        "carried out: look at the game, or send the request again with the same ply or token"
    )


logger = get_logger(__name__)

#: The advice to an operator about data that cannot be read.
READ_ADVICE = "gmd check says what is damaged, and gmd export keeps what is whole"
#: Seconds between two lines about the same outage: retrying clients fail a thousand times a second.
REPEAT_SECONDS = 60.0


class Outage:
    """The present outage of the event log, if there is one.

    :ivar reason: why the last write failed; None if it succeeded.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._began = 0.0
        self._logged = 0.0
        self._failures = 0

    def failed(self, reason: str, games: int) -> None:
        """Note that a write of some games failed."""
        now = trio.current_time()
        self._failures += 1
        if self.reason is None:
            self._began = self._logged = now
            logger.error("the event log cannot be written", reason=reason, games=games)
        elif now >= self._logged + REPEAT_SECONDS:
            self._logged = now
            logger.error("the event log still cannot be written", reason=reason, **self._so_far(now))
        self.reason = reason

    def over(self) -> None:
        """Note that a write succeeded."""
        if self.reason is not None:
            self.reason = None
            logger.warning("the event log can be written again", **self._so_far(trio.current_time()))
            self._failures = 0

    def _so_far(self, now: float) -> dict[str, float]:
        return {"failures": self._failures, "seconds": round(now - self._began, 3)}


def reason_of(error: Exception) -> str:
    """Return the text of an error, or of its cause if a library has wrapped it."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}"


_T = TypeVar("_T")

#: Concurrent reads of the database. They run concurrently with the writer; more would only wait for the interpreter.
READERS = 2
#: Tokens cached with their games: more than can be used during one read of the database.
RECENT_TOKENS = 10_000
#: Seconds between two checks that its files exist, and between two attempts to write during an outage.
PROBE_SECONDS = 2.0


class BatchingLog:
    """An event log on a :class:`~gmd.event_log.store.Store`."""

    def __init__(
        self,
        store: Store,
        metrics: Metrics | None = None,
        committer: Committer | None = None,
        gather_seconds: float = 0.0,
        newest_id: int = 0,
        return_seconds: float = 0.0,
    ) -> None:
        """Block for a moment, to read the newest id.

        :param committer: writes batches in another process if it can; otherwise the writer's thread does.
        :param gather_seconds: how long appends may gather while the event loop is busy.
        :param newest_id: an id that a game has had, even one that was lost: no game gets it, or a lower one.
        :param return_seconds: how long a batch waits for the games of the last one, if the others are fewer.
        :raises Exception: the database's error if it cannot be read.
        """
        self.store = store
        self._last_id = max(store.newest_game_id(), newest_id)
        self._gathering: dict[int, Pending] = {}
        self._writing: dict[int, Pending] = {}
        self._settling = Settling()
        self._delivered: dict[ResultDelivered, None] = {}
        self._tokens: OrderedDict[tuple[int | None, bytes], tuple[int, bytes]] = OrderedDict()
        self._thread, self._committer = WriterThread(), committer
        self._committing: tuple[Batch, float] | None = None  # the committer's batch, and when it was handed over
        self._other_work = trio.Lock()
        self._changed = trio.Event()  # set by stop(), by an unexpected error, and by a failed write
        self._bug: Exception | None = None
        self._gathering_since, self._gather_seconds = 0.0, gather_seconds
        self._batch_delay = BatchDelay(return_seconds)
        self._stopping = self._closed = False
        self._outage = Outage()
        self._metrics = metrics or Metrics()
        self._readers = Workers(READERS, "gmd log reader")

    @property
    def database(self) -> BatchingLog:
        return self

    @property
    def failure(self) -> str | None:
        return self._outage.reason

    # --- Writing ------------------------------------------------------------------------------------------------

    def next_game_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def append(
        self,
        game_id: int,
        expected_seq: int,
        events: Sequence[AnyEvent],
        summary: Callable[[], GameSummary],
        token: TokenUse | None = None,
    ) -> Pending:
        if self._closed:
            raise LogFailed(f"game {game_id}: the event log is closed; nothing was done")
        pending = self._gathering.get(game_id)
        before = pending or self._writing.get(game_id)
        if before is not None and before.end != expected_seq:
            raise SequenceConflict(game_id, expected_seq, before.end)
        if pending is None:
            if not self._gathering:
                self._gathering_since = perf_counter()
            pending = self._gathering[game_id] = Pending(game_id, expected_seq, summary, token)
            self._batch_delay.gathered(game_id)
        pending.events.extend(events)
        if token is not None:
            self._remember(token, game_id)
        return pending

    def result_delivered(self, game_id: int, seat: chess.Color) -> None:
        self._delivered[ResultDelivered(game_id, seat)] = None  # written with the next batch; it starts none itself

    async def run(self) -> None:
        self._thread.start()
        async with trio.open_nursery() as nursery:
            listening = trio.CancelScope(shield=True)
            nursery.start_soon(self._listen, listening)
            try:
                with calling_at_turn_ends(self._at_turn_end, self._break):
                    await self._keep_writable()
            finally:
                with trio.CancelScope(shield=True):
                    await self._finish()
                listening.cancel()
                self._thread.stop()

    def stop(self) -> None:
        self._stopping = True
        self.store.hurry()  # other processes that hold the file have had their time
        self._changed.set()

    def close(self) -> None:
        """End the reader threads; nobody may append or read any more."""
        self._readers.close()

    async def _keep_writable(self) -> None:
        """Check regularly until stopped that the log can be written: that its files exist and take a row."""
        while not self._stopping:
            with trio.move_on_after(PROBE_SECONDS) as waiting:
                await self._changed.wait()
            self._changed = trio.Event()
            if self._bug is not None:
                raise self._bug
            if waiting.cancelled_caught:
                await self._try_to_write()

    def _break(self, bug: Exception) -> None:
        """End with an unexpected error, rather than run on without acknowledging anything."""
        logger.error("the event log has failed: the server ends", reason=reason_of(bug))
        self._bug = bug
        self._changed.set()

    async def _listen(self, scope: trio.CancelScope) -> None:
        with scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._batch_delay.run)
                if self._committer is not None:
                    nursery.start_soon(self._take_answers, self._committer)

    async def _take_answers(self, committer: Committer) -> None:
        try:
            await committer.run(self._committed)
        except Exception as bug:  # its answer will not come
            self._break(bug)

    async def _try_to_write(self) -> None:
        """Find out whether the log can be written, so that clients are sent to this daemon only if it can."""
        failing = self.failure is not None
        try:
            await self._thread.call(self.store.probe if failing else self.store.look)
        except Exception as error:
            self._outage.failed(reason_of(error), games=0)
        else:
            if failing:
                self._outage.over()

    async def _finish(self) -> None:
        """Settle all appends, and accept no more."""
        if self._bug is not None:  # nobody can say what is written, and some may never be
            self._closed = True
            for pending in [*self._writing.values(), *self._gathering.values()]:
                pending.settle(lost_by_failure(pending.game_id))
            return
        while self._gathering or self._writing:
            self._hand_over()
            await next(iter(self._writing.values())).settled()
            self._settling.finish()
        async with self._other_work:
            self._closed = True
        if self._delivered:
            await self._thread.call(partial(write_batch, self.store, Batch([], list(self._delivered))))

    def _at_turn_end(self, idle: bool) -> None:
        """Hand over the gathered appends, unless more are likely to come: a fuller batch is cheaper for all in it.

        :param idle: whether the loop has nothing else to do.
        """
        if not self._gathering or self._writing or self._batch_delay.is_awaited:
            return
        if idle or perf_counter() - self._gathering_since >= self._gather_seconds:
            self._hand_over()

    def _hand_over(self) -> None:
        """Have the gathered appends written, unless another batch is being written."""
        if self._gathering and not self._writing:
            writing, gathering = divided(self._gathering)
            batch = Batch([pending.as_append() for pending in writing.values()], list(self._delivered))
            self._writing, self._gathering, self._delivered = writing, gathering, {}
            self._batch_delay.handed_over()
            if self._commit(batch):
                self._committing = batch, perf_counter()
            else:
                self._put(batch, perf_counter())

    def _commit(self, batch: Batch) -> bool:
        """Give a batch to the committer; return False if the thread must write it, as while it is writing already."""
        return self._committer is not None and not self._other_work.locked() and self._committer.put(*batch)

    def _committed(self, done: bool) -> None:
        """Take the committer's answer. The thread tries a failed batch once more, to find out which games fail."""
        assert self._committing is not None
        (batch, handed_over), self._committing = self._committing, None
        if done:
            self._written(batch, handed_over, Result({}, None))
        else:
            self._put(batch, handed_over)

    def _put(self, batch: Batch, handed_over: float) -> None:
        self._thread.put(partial(write_batch, self.store, batch), partial(self._written, batch, handed_over))

    def _written(self, batch: Batch, handed_over: float, result: Result) -> None:
        """Settle a batch that was written or has failed, after handing over the next one if it is time for that."""
        self._note(result.error, len(batch.appends), perf_counter() - handed_over)
        settled, self._writing = self._writing, {}
        for game_id, error in result.failed.items():
            self._fail(settled.pop(game_id), error)
        self._batch_delay.committed(settled, self._gathering)
        self._at_turn_end(idle=False)  # now, because the rest of this turn may be long
        self._settling.settle(settled.values())
        self._batch_delay.settled()

    def _note(self, error: Exception | None, games: int, seconds: float) -> None:
        """Count a batch, and log the start and the end of an outage."""
        if error is None:
            self._metrics.commit_seconds.observe(seconds)
            self._metrics.commit_games.observe(games)
            self._outage.over()
        else:
            self._metrics.commits_failed += 1
            self._outage.failed(reason_of(error), games=games)
            self._changed.set()

    async def prune(self, seconds: float) -> list[Pruned]:
        async with self._other_work:  # so that a batch waits for at most one step
            if self._closed:
                raise LogFailed("the event log is closed; nothing was removed")
            try:
                pruned = await self._thread.call(partial(self.store.prune, seconds))
            except Exception as error:
                logger.error("finished games cannot be pruned", reason=reason_of(error))
                raise LogFailed("finished games cannot be pruned; nothing was removed") from error
        gone = {game.game_id for game in pruned}
        for token in [token for token, (game_id, _) in self._tokens.items() if game_id in gone]:
            del self._tokens[token]
        return pruned

    def _fail(self, pending: Pending, error: GmError) -> None:
        """Settle an append that failed, and later appends to the same game, which cannot become durable either."""
        self._settling.finish()  # first what became durable before, of the same game, too
        later = self._gathering.pop(pending.game_id, None)
        for lost in filter(None, (pending, later)):
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

    async def write(self, work: Callable[[Connection], _T]) -> _T:
        """Run work in a transaction on the games' database; see :class:`~gmd.event_log.interface.Database`."""
        async with self._other_work:
            if self._closed:
                raise LogFailed("the event log is closed; nothing was done")
            try:
                return await self._thread.call(partial(self.store.write_beside, work))
            except OutcomeUnknown as error:
                logger.error("the connection to the database was lost during a commit", reason=reason_of(error))
                raise OutcomeInDoubt(
                    "the connection to the database was lost; nobody knows whether this was done"
                ) from None
            except Exception as error:
                logger.error("the database cannot be written", reason=reason_of(error))
                raise failed("written", None, error) from None

    # --- Reading ------------------------------------------------------------------------------------------------

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        return await self._read(partial(self.store.read, work))

    async def load(self, game_id: int) -> list[AnyEvent]:
        for pending in filter(None, (self._writing.get(game_id), self._gathering.get(game_id))):
            await pending.settled()
        return await self._read(partial(self.store.load, game_id), game_id)

    async def made_under(self, player: int | None, token: bytes, peer: str = "") -> tuple[int, bytes] | None:
        if (recent := self._tokens.get((player, token))) is not None:
            return recent
        found = await self._read(partial(self.store.made_under, player, token), peer=peer)
        return self._tokens.get((player, token), found)

    async def rows(self, query: GameQuery, peer: str = "") -> list[GameRow]:
        return await self._read_settled(partial(self.store.rows, query), peer)

    async def deadlines(self) -> list[Deadline]:
        return await self._read_settled(self.store.deadlines)

    async def playing(self) -> list[Playing]:
        return await self._read_settled(partial(self.store.read, playing))

    async def unanswered(self) -> list[Unanswered]:
        return await self._read_settled(partial(self.store.read, unanswered))

    async def ranked(self) -> Ranked:
        return await self._read_settled(partial(self.store.read, ranked))

    async def live_games(self) -> int:
        return await self._read_settled(self.store.live_games)

    async def due(self, player: int, peer: str = "") -> list[int]:
        return await self._read_settled(partial(self.store.due, player), peer)

    async def _read_settled(self, read: Callable[[], _T], peer: str = "") -> _T:
        await self._all_settled()
        return await self._read(read, peer=peer)

    async def _all_settled(self) -> None:
        """Wait for all appends so far that change the public state of a game.

        A listing that waited for a sense would reveal it.
        """
        for batch in (self._writing, self._gathering):
            public = [pending for pending in batch.values() if not all(event.is_secret for event in pending.events)]
            for pending in public[-1:]:  # the others are settled with it, or before
                await pending.settled()

    async def _read(self, read: Callable[[], _T], game_id: int | None = None, peer: str = "") -> _T:
        try:
            return await self._readers.run_in_turn(source_of(peer) if peer else "", self.store.patiently, read)
        except GameDamaged as damaged:
            logger.error("a game is damaged", game_id=game_id, reason=damaged.what, advice=READ_ADVICE)
            raise
        except Exception as error:
            logger.error("the event log cannot be read", reason=reason_of(error), game_id=game_id, advice=READ_ADVICE)
            raise failed("read", game_id, error) from error
