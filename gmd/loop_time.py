"""Time as the event loop has lived it: what passes while it is away is charged to nobody.

A process may be stopped, a virtual machine paused, a processor taken by others; a turn of the loop may also take long
of its own. When the loop then goes on, requests lie in the sockets that nobody has read, and by the machine's clock
their players' time is up. So the daemon's times are these: they are trio's (:func:`trio.current_time`), in seconds, but
they stand still while the loop is away, from its last sign of life on, and until it has read what has come meanwhile.

An instrument of trio's looks at the loop before and after it waits for input. Without :func:`watched`, and on clocks
that tests set by hand, these times are trio's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import perf_counter
from types import TracebackType
from typing import Self

import trio
from trio.lowlevel import RunVar

from gmd.logger import get_logger

logger = get_logger(__name__)

#: Seconds beyond those it meant to sleep after which the loop has been away. A busy loop's turns take a tenth of that.
AWAY_SECONDS = 0.1
#: Longest sleep, in seconds, while a deadline is set. Somebody asleep cannot tell whether it slept or was stopped: so
#: much at most is charged of an absence that begins in a sleep, or forgiven with it. Twenty wakings a second cost a
#: thousandth of a processor.
NAP_SECONDS = 0.05
#: A wait for input that lasts so many seconds has found none: what came in an absence has been read.
QUIET_SECONDS = 0.001
#: Seconds that deadlines are put off by: what has come by trio's time has come by the loop's, however they round.
ROUNDING = 1e-6
#: Longest time, in seconds, to read what came in an absence, if that was longer: a server that is always busy must not
#: stand still for ever.
LONGEST_CATCH_UP = 5.0
#: Deadlines that come later than so many seconds after an absence are not put off by it: there may be very many, and by
#: then what came meanwhile has long been read.
SOON_SECONDS = 1.0
#: Absences of so many seconds are said in the log.
SAID_SECONDS = 1.0


class _Watch(trio.abc.Instrument):
    """Watches a loop, and holds its time.

    :ivar users: how many daemons it is watched for.
    :ivar scopes: what is to be put off by absences.
    :ivar offset: seconds from the loop's time to trio's, for deadlines: until it has caught up, the most it may be.
    :ivar still: where time stands while the loop catches up; None while it passes.
    :ivar caught_up: set when time passes on.
    """

    def __init__(self) -> None:
        self.users = 0
        self.scopes: set[PatientScope] = set()
        self._put_off: set[PatientScope] = set()  # of them, by the absence that is on
        self.offset = 0.0
        self.still: float | None = None
        self.caught_up = trio.Event()
        self._token = trio.lowlevel.current_trio_token()
        #: When the loop has last given a sign of life, in trio's time; and when it began to wait, by the processor's.
        self._alive = trio.current_time()
        self._waits_since = 0.0
        self._latest = self._alive  # the latest time that was told: it goes back for nobody
        self._until = 0.0  # when it must have caught up, in trio's time

    def now(self) -> float:
        if self.still is None:
            time = trio.current_time()
            if time - self._alive <= AWAY_SECONDS:
                self._latest = max(self._latest, time - self.offset)
                return self._latest
            self._stand_still(time)  # this very turn takes that long
        assert self.still is not None
        return self.still

    def turn_began(self) -> float:
        """When the present turn did: what is read in it was there by then, or has come since."""
        return self._alive - self.offset if self.still is None else self.still

    def before_io_wait(self, timeout: float) -> None:
        time = trio.current_time()
        self._look(time, 0.0)
        self._alive, self._waits_since = time, perf_counter()

    def after_io_wait(self, timeout: float) -> None:
        """Trio has noted what has come, and no deadline yet."""
        time = trio.current_time()
        was_away = self._look(time, timeout)
        if self.still is not None and not was_away:
            if self._was_quiet(timeout):
                self._go_on(self._alive)  # all had been read when the wait began
            elif time >= self._until:
                self._go_on(time)
        self._alive = time

    def _was_quiet(self, timeout: float) -> bool:
        """Whether no task was left to run, and the wait has found no input at once."""
        return timeout > 0 and perf_counter() - self._waits_since >= QUIET_SECONDS

    def _look(self, time: float, meant: float) -> bool:
        """Whether the loop was away since its last sign of life, where it meant to sleep for so many seconds."""
        if time - self._alive <= meant + AWAY_SECONDS:
            return False
        if time - self._alive >= SAID_SECONDS:
            self._token.run_sync_soon(_say, time - self._alive)
        self._stand_still(time)
        return True

    def _stand_still(self, time: float) -> None:
        away = time - self._alive
        if self.still is None:
            self.still = max(self._latest, self._alive - self.offset)
        self._until = max(self._until, time + min(away, LONGEST_CATCH_UP))
        self.offset = self._until - self.still
        soon = self._until + SOON_SECONDS
        self._put_off |= {scope for scope in self.scopes if scope.due < soon}
        for scope in self._put_off:
            scope.set_off()

    def _go_on(self, time: float) -> None:
        assert self.still is not None
        self.offset = time - self.still
        for scope in self._put_off:
            scope.set_off()
        self._put_off = set()
        self._latest, self.still = self.still, None
        self.caught_up.set()
        self.caught_up = trio.Event()


def _say(seconds: float) -> None:
    logger.info("the server was away, and its clocks stood still", seconds=round(seconds, 3))


_watch: RunVar[_Watch | None] = RunVar("gmd.loop_time", default=None)


@contextmanager
def watched() -> Iterator[None]:
    """Watch the loop, where its clock passes by itself."""
    watch = _watch.get()
    if watch is None:
        if not _passes_by_itself(trio.lowlevel.current_clock()):
            yield
            return
        watch = _Watch()
        trio.lowlevel.add_instrument(watch)
        _watch.set(watch)
    watch.users += 1
    try:
        yield
    finally:
        watch.users -= 1
        if not watch.users:
            _watch.set(None)
            trio.lowlevel.remove_instrument(watch)


def _passes_by_itself(clock: trio.abc.Clock) -> bool:
    """Whether a second on it is one of the machine's: those of tests, which are set by hand, would sleep for ever."""
    return clock.deadline_to_sleep_time(clock.current_time() + 1.0) <= 1.0


def now() -> float:
    """The loop's time, in seconds. It never goes back, and stands still while the loop catches up."""
    watch = _watch.get()
    return trio.current_time() if watch is None else watch.now()


def arrival() -> float:
    """When what is read now had arrived at the latest, as far as anybody is to be charged for it."""
    watch = _watch.get()
    return trio.current_time() if watch is None else watch.turn_began()


def is_catching_up() -> bool:
    """Whether the loop was away, and has not read yet what came meanwhile."""
    watch = _watch.get()
    if watch is None:
        return False
    watch.now()  # which notices that this very turn takes long
    return watch.still is not None


async def caught_up() -> None:
    """Return when what came while the loop was away has been read; at once where it was not."""
    watch = _watch.get()
    while watch is not None and is_catching_up():
        with trio.move_on_after(NAP_SECONDS):  # a loop that sleeps on does not look
            await watch.caught_up.wait()


def nap_until(due: float) -> float:
    """Until when to sleep where something is due: not for longer than an absence may go unnoticed.

    :param due: in the loop's time, as is what is returned; infinite where nothing is.
    """
    watch = _watch.get()
    if watch is None or due == inf:
        return due
    latest = watch.now() + NAP_SECONDS
    return latest if watch.still is not None else min(due, latest)


class PatientScope:
    """A :class:`trio.CancelScope` whose deadline is in the loop's time: an absence in which it would come puts it off.

    :ivar due: the deadline in trio's time.
    """

    __slots__ = ("_deadline", "_scope", "_watch", "due")

    def __init__(self, deadline: float = inf) -> None:
        self._watch = _watch.get()
        self._scope = trio.CancelScope()
        self.deadline = deadline

    @property
    def deadline(self) -> float:
        """When it is cancelled, in the loop's time."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        self._deadline = deadline
        self.set_off()

    def set_off(self) -> None:
        """Take up the watch's offset."""
        self.due = self._deadline + (0.0 if self._watch is None else self._watch.offset + ROUNDING)
        self._scope.deadline = self.due

    @property
    def cancel_called(self) -> bool:
        """Whether it was cancelled, or its deadline has come."""
        if self._watch is not None:
            self._watch.now()  # trio looks at the clock, and this very turn may take long
        return self._scope.cancel_called

    @property
    def cancelled_caught(self) -> bool:
        """Whether its block was left by that."""
        return self._scope.cancelled_caught

    def cancel(self) -> None:
        """Leave the block."""
        self._scope.cancel()

    def __enter__(self) -> Self:
        if self._watch is not None:
            self._watch.scopes.add(self)
        self._scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if self._watch is not None:
            self._watch.scopes.discard(self)
        return self._scope.__exit__(kind, error, traceback)


def move_on_after(seconds: float) -> PatientScope:
    """:func:`trio.move_on_after`, in the loop's time."""
    return PatientScope(now() + seconds)


@contextmanager
def fail_after(seconds: float) -> Iterator[None]:
    """:func:`trio.fail_after`, in the loop's time.

    :raises trio.TooSlowError: it has passed.
    """
    with move_on_after(seconds) as scope:
        yield
    if scope.cancelled_caught:
        raise trio.TooSlowError
