"""The lease of the daemon that serves a PostgreSQL database: whether it may serve, and answer from memory.

A thread waits for the lock (:mod:`gmd.event_log.server_lock`), and then says signs of life. It does nothing else: a
sign must not wait behind a commit, nor for a busy event loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from threading import Event, Thread

import psycopg
import trio

from gmd.event_log.interface import Superseded
from gmd.event_log.migrations import NewerSchema
from gmd.event_log.postgres_connection import NotReplicated
from gmd.event_log.server_lock import SIGNS, LockLost, Server, ServerLock
from gmd.logger import get_logger
from gmd.net import loop_time

logger = get_logger(__name__)

#: Seconds between two attempts to get the lock.
POLL_SECONDS = 0.1
#: Seconds by which the lease ends earlier for this daemon than for the database, whose clock may run faster.
MARGIN_SECONDS = 0.2

#: Errors after which a daemon goes on waiting: lost connections, timeouts, and a former primary.
PASSING = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.errors.ReadOnlySqlTransaction)

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def uptime() -> float:
    """Return seconds on a clock that nobody sets, and that goes on while this process or the machine is suspended."""
    return time.clock_gettime(_CLOCK)


class Lease:
    """The right of this daemon to serve a database, from :meth:`start` to :meth:`stop`.

    While it has run out, as while the database cannot be reached, nothing is answered. If this daemon gets the lock
    back under the same term, nobody else has written, and it goes on.

    :ivar term: under which this daemon writes; 0 before it has won.
    :ivar won: set when this daemon has won the lock and raised the term, or cannot: then ``error`` says why.
    :ivar lost: set when another daemon has taken over: nothing in memory may be trusted any more.
    :ivar server: what the daemon says of itself for which this one waits; None before one is known.
    :ivar waits: set once this one waits for another one.
    """

    def __init__(self, lock: ServerLock, seconds: float) -> None:
        """:param seconds: its length, that of the lock's session."""
        self.term = 0
        self.won, self.lost = trio.Event(), trio.Event()
        self.server: Server | None = None
        self.error: Exception | None = None
        self.waits = trio.Event()
        #: Called with the length of a time in which it had run out, in the loop's seconds, when that is over.
        self.on_resumed: Callable[[float], None] | None = None
        self._lock, self._seconds = lock, seconds
        self._valid_until = -inf
        self._opens_at = inf
        self._since = 0.0  # of the time in which it has run out, in the loop's time
        self._waiting: list[Callable[[], None]] = []
        self._changed = trio.Event()  # set when it is valid again, or lost
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="gmd lease", daemon=True)
        self._stopping = Event()
        self._asked_at = inf  # when the call under way in the thread began
        self._holds = self._is_over = False
        self._seen: Server | None = None
        self._failing: str | None = None

    # --- The event loop -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to wait for the lock."""
        self._token = trio.lowlevel.current_trio_token()
        self._thread.start()

    async def stop(self, *, released: bool = False) -> None:
        """Give the lock back.

        :param released: whether all work is done, so that the next daemon need not wait until the lease has run out.
        """
        self._valid_until, self._is_over = -inf, True
        self._stopping.set()
        # Before it opens, the daemon before it may still answer, for which the next one has to wait, too.
        if released and uptime() >= self._opens_at and not self.lost.is_set():
            self._work.put(self._release)
        self._work.put(None)
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._join)

    async def opens(self) -> None:
        """Return when the lease of the daemon before has run out, so that it answers nobody any more."""
        await self.won.wait()
        await trio.sleep(max(0.0, self._opens_at - uptime()))

    def is_valid(self) -> bool:
        """Return whether this daemon may answer from memory now."""
        return not self._is_over and uptime() < self._valid_until

    def when_valid(self, call: Callable[[], None]) -> None:
        """Have a function called when the lease is valid again, and never if another daemon has taken over."""
        self._waiting.append(call)

    async def valid(self) -> None:
        """Return when the lease is valid.

        :raises Superseded: another daemon has taken over.
        """
        while not self.is_valid():
            if self.lost.is_set():
                raise Superseded
            await self._changed.wait()

    def unstick(self) -> None:
        """End a call to the database that does not return, as where a connection was cut without a word."""
        if uptime() - self._asked_at > self._seconds:
            self._lock.interrupt()

    def show(self, addresses: str) -> None:
        """Note where this daemon is reached, for operators."""
        self._work.put(partial(self._lock.show, self.term, addresses))

    def lose(self) -> None:
        """Note that the database has refused to write under this term. Any thread may call it."""
        self._valid_until, self._is_over = -inf, True
        self._post(self._note_lost)

    async def watch(self) -> None:
        """Note when the lease runs out, until cancelled."""
        while True:
            due = loop_time.now()
            while (rest := self._valid_until - uptime()) > 0:
                due = loop_time.now() + rest
                await trio.sleep(rest)
            if self._is_over:
                await trio.sleep_forever()
            self._since = min(due, loop_time.now())  # a busy loop notices it later
            logger.warning("the lease has run out: nothing is answered until it is renewed")
            while not self.is_valid():
                with trio.move_on_after(self._seconds):
                    await self._changed.wait()
                self.unstick()
                if self.lost.is_set():
                    await trio.sleep_forever()

    def _note_won(self, error: Exception | None) -> None:
        self.error = error
        self.won.set()

    def _join(self) -> None:
        """Wait for the thread; not for a call to the database that does not return."""
        self._thread.join(2 * self._seconds)
        if self._thread.is_alive():
            self._lock.interrupt()
            self._thread.join(self._seconds)

    def _note_waiting(self, server: Server | None) -> None:
        self.server = server
        self.waits.set()

    def _note_lost(self) -> None:
        if not self.lost.is_set():
            logger.error("another daemon has taken over: this one serves nothing any more")
            self.lost.set()
            self._changed.set()

    def _resume(self, until: float) -> None:
        """Go on after the lease had run out."""
        if self._is_over or uptime() >= until:
            return
        if self.on_resumed is not None and self._since:
            self.on_resumed(loop_time.now() - self._since)
        self._since = 0.0
        self._valid_until = until
        self._changed.set()
        self._changed = trio.Event()
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()

    # --- The thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            if self._win():
                self._keep()
        except (psycopg.Error, NewerSchema) as error:
            self._post(partial(self._note_won, error))
        except Exception as bug:
            logger.exception("the lease is not kept any more")
            self.lose()
            self._post(partial(self._note_won, bug))
        finally:
            self._lock.close()

    def _win(self) -> bool:
        """Wait for the lock, and raise the term; return False if this daemon stops before that.

        :raises psycopg.Error, NewerSchema: this daemon can never serve the database.
        """
        is_away, not_before = False, 0.0
        while not self._stopping.is_set():
            self._asked_at = uptime()
            try:
                if is_away or uptime() < not_before:
                    self._lock.server()
                elif self._take_lock():
                    return True
            except (*PASSING, NotReplicated) as error:
                self._failed("the database cannot be used now: waiting for it", error)
                self._lock.close()
                is_away = True
            else:
                if is_away:
                    # If the database has restarted, the daemon that served it goes first: its clients stay connected.
                    is_away, not_before = False, uptime() + self._seconds
                self._succeeded("the database is there again")
            self._asked_at = inf
            self._stopping.wait(POLL_SECONDS)
        return False

    def _take_lock(self) -> bool:
        """Get the lock and raise the term if that is possible now."""
        sent = uptime()
        if not self._lock.acquire():
            if (server := self._lock.server()) != self._seen or not self.waits.is_set():
                self._seen = server
                self._post(partial(self._note_waiting, server))
            return False
        before = self._lock.server()
        self.term = self._lock.raise_term()
        self._holds = True
        self._opens_at = uptime() if before is None or before.released else uptime() + before.lease
        self._valid_until = sent + self._seconds - MARGIN_SECONDS
        self._post(partial(self._note_won, None))
        return True

    def _keep(self) -> None:
        """Say signs of life until this daemon stops."""
        due = uptime()
        while True:
            if self._is_over:
                due = inf
            elif uptime() >= due:
                due = uptime() + (self._seconds / SIGNS if self._sign() else POLL_SECONDS)
            with suppress(Empty):
                work = self._work.get(timeout=None if due == inf else max(0.0, due - uptime()))
                if work is None:
                    return
                self._asked_at = uptime()
                with suppress(psycopg.Error):  # the next sign finds that out
                    work()
                self._asked_at = inf

    def _sign(self) -> bool:
        """Say that this daemon lives, after a loss of the session in a new one; return whether it has the lock."""
        sent = self._asked_at = uptime()
        try:
            if self._holds:
                self._lock.sign()
            elif not self._win_back():
                return False
        except (psycopg.Error, LockLost) as error:
            self._lock.close()
            self._holds = False
            self._failed("the lease cannot be renewed", error)
            return False
        finally:
            self._asked_at = inf
        self._succeeded("the lease is renewed again")
        until = sent + self._seconds - MARGIN_SECONDS
        if self.is_valid():
            self._valid_until = until
        else:  # also without an error: the database, or this process, stood still
            self._post(partial(self._resume, until))
        return True

    def _win_back(self) -> bool:
        """Return whether this daemon has the lock again, and nobody has raised the term."""
        self._holds = self._lock.acquire()
        server = self._lock.server()
        if server is None or server.term != self.term:
            self._holds = False
            self._lock.close()
            self.lose()
        return self._holds

    def _release(self) -> None:
        self._lock.release(self.term)

    def _failed(self, what: str, error: Exception) -> None:
        reason = " ".join(str(error).split())  # libpq's have several lines
        if self._failing is None:
            logger.warning(what, reason=reason)
        self._failing = reason

    def _succeeded(self, what: str) -> None:
        if self._failing is not None:
            logger.warning(what)
        self._failing = None

    def _post(self, call: Callable[[], None]) -> None:
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(call)
