"""The thread that renews a daemon's lease, and looks at the map.

It does nothing else: a renewal must not wait behind commits of games, nor behind changes of the map, nor for a busy
event loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from threading import Thread

import psycopg
import trio

from gmd.logger import get_logger

from .leases import LEASE_SECONDS, Fenced, Leases
from .shard_map import ShardMap

logger = get_logger(__name__)

#: Seconds between two renewals; and between two attempts while they fail.
RENEW_SECONDS = 0.5
RETRY_SECONDS = 0.1
#: Seconds by which the lease ends earlier for this daemon than for the database, whose clock may run faster.
MARGIN_SECONDS = 0.2

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def uptime() -> float:
    """Return seconds on a clock that nobody sets, and that goes on while this process or the machine is suspended."""
    return time.clock_gettime(_CLOCK)


class LeaseThread:
    """Renews a lease from :meth:`start` to :meth:`stop`, or until it has run out.

    What it learns is passed to the event loop in the order in which the database said it.

    :ivar valid_until: when the lease ends for this daemon, by :func:`uptime`; at that time the database still knows it.
    :ivar steady_since: when renewing succeeded again after it had failed or stood still, by :func:`uptime`.
    """

    def __init__(
        self,
        leases: Leases,
        seen: Callable[[ShardMap], None],
        fenced: Callable[[], None],
        resumed: Callable[[], None],
    ) -> None:
        """:param resumed: called in the event loop when a lease that had run out is renewed, just before it is valid.
        :param seen: called in the event loop with the map, after each renewal and each :meth:`look`.
        :param fenced: called in the event loop once the lease has run out; nothing is seen after that.
        """
        self.valid_until = -inf
        self.steady_since = -inf
        self._leases = leases
        self._seen, self._fenced, self._resumed = seen, fenced, resumed
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="gmd lease", daemon=True)
        self._is_failing = False
        self._due = 0.0  # when to renew next
        self._waiting: set[trio.Event] = set()  # those of the looks under way
        self._ended = False

    def start(self, joined: float) -> None:
        """Start the thread.

        :param joined: when joining was begun, by :func:`uptime`: the lease lasts from then on.
        """
        self.valid_until = joined + LEASE_SECONDS - MARGIN_SECONDS
        self._token = trio.lowlevel.current_trio_token()
        self._thread.start()

    async def stop(self) -> None:
        """End the thread, and wait for it."""
        self._work.put(None)
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._thread.join)

    def renew_soon(self) -> None:
        """Renew the lease and look at the map now."""
        self._work.put(self._hurry)

    async def look(self) -> None:
        """Look at the map now; return once it is seen.

        :raises psycopg.Error: the database failed.
        :raises Fenced: the lease is no longer renewed.
        """
        if self._ended:
            raise Fenced("the lease is no longer renewed")
        finished = trio.Event()
        results: list[psycopg.Error | None] = []

        def note(error: psycopg.Error | None) -> None:
            results.append(error)
            finished.set()

        def look() -> None:
            try:
                self._post(partial(self._seen, self._leases.look()))
                self._post(partial(note, None))
            except psycopg.Error as error:
                self._leases.close()
                self._post(partial(note, error))

        self._waiting.add(finished)
        self._work.put(look)
        await finished.wait()
        self._waiting.discard(finished)
        if not results:
            raise Fenced("the lease is no longer renewed")
        if results[0] is not None:
            raise results[0]

    def _run(self) -> None:
        try:
            self._keep_renewing()
        except trio.RunFinishedError:
            pass
        except Exception:
            logger.exception("the lease is no longer renewed")
            self.valid_until = -inf
            with suppress(trio.RunFinishedError):
                self._post(self._fenced)
        finally:
            self._leases.close()
            with suppress(trio.RunFinishedError):
                self._post(self._end)

    def _keep_renewing(self) -> None:
        while True:
            if uptime() >= self._due:
                self._due = uptime() + (RENEW_SECONDS if self._renew() else RETRY_SECONDS)
            with suppress(Empty):
                work = self._work.get(timeout=max(0.0, self._due - uptime()))
                if work is None:
                    return
                work()

    def _renew(self) -> bool:
        """Renew the lease; return False if that failed."""
        sent = uptime()
        try:
            seen = self._leases.renew()
        except Fenced:
            self.valid_until = -inf
            self._post(self._fenced)
            return True
        except psycopg.Error as error:
            self._leases.close()
            if not self._is_failing:
                logger.error("the lease cannot be renewed", reason=str(error).strip())
            self._is_failing = True
            return False
        until = sent + LEASE_SECONDS - MARGIN_SECONDS
        has_lapsed = uptime() >= self.valid_until  # also without an error: the database, or this process, stood still
        if has_lapsed:
            self._post(partial(self._resume, until))
        else:
            self.valid_until = until
        if self._is_failing or has_lapsed:
            self.steady_since = uptime()
        if self._is_failing:
            logger.warning("the lease is renewed again")
        self._is_failing = False
        self._post(partial(self._seen, seen))
        return True

    def _resume(self, until: float) -> None:
        self._resumed()
        self.valid_until = until

    def _end(self) -> None:
        """Let nobody wait for a look that will not be taken."""
        self._ended = True
        for finished in self._waiting:
            finished.set()

    def _hurry(self) -> None:
        self._due = 0.0

    def post(self, call: Callable[[], None]) -> None:
        """Have the event loop call a function soon, if it still runs."""
        with suppress(trio.RunFinishedError):
            self._post(call)

    def _post(self, call: Callable[[], None]) -> None:
        self._token.run_sync_soon(call)
