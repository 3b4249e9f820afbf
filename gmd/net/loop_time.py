"""The event loop's time, which stops during pauses of the loop: no player is charged for them.

A process may be stopped, a virtual machine paused, or a processor busy with other work; a turn of the loop may also
take long by itself. When the loop then runs again, requests wait unread in the sockets, and by the machine's clock
their players' time is up. So the daemon uses the loop's time. It is trio's (:func:`trio.current_time`), in seconds,
but stands still from the loop's last activity before a pause until the loop has read the input that came in the pause.

A trio instrument checks the loop before and after it waits for input. Without :func:`watched`, and on clocks that tests
set by hand, the loop's time is trio's.
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

#: A pause: the loop runs again this many seconds after the end of its intended sleep. A busy loop's turns take a tenth
#: of that.
AWAY_SECONDS = 0.1
#: Longest sleep while a deadline is set, in seconds. A sleeping process cannot tell sleep from a pause. So when a pause
#: begins during a sleep, players are charged, or spared, at most this much. Waking twenty times a second costs a
#: thousandth of a processor.
NAP_SECONDS = 0.05
#: A wait for input that lasts this many seconds has found none: the input that came in a pause has been read.
QUIET_SECONDS = 0.001
#: Seconds added to deadlines, so that a deadline that has come in trio's time has come in the loop's, however they
#: round.
ROUNDING = 1e-6
#: Longest time for reading the input that came in a pause, in seconds; a shorter pause gets as long as it lasted. The
#: time of a server that is always busy must not stand still for ever.
LONGEST_CATCH_UP = 5.0
#: A pause does not postpone deadlines later than this many seconds after it: there may be very many, and by then the
#: input that came in the pause has long been read.
SOON_SECONDS = 1.0
#: Pauses of this many seconds are logged.
SAID_SECONDS = 1.0


class _Watch(trio.abc.Instrument):
    """A trio instrument that detects pauses of the loop and keeps its time.

    :ivar users: how many daemons need it.
    :ivar reports: whether long pauses are logged: from when the first daemon serves.
    :ivar scopes: the scopes whose deadlines pauses postpone.
    :ivar offset: trio's time minus the loop's, in seconds, for deadlines; while the loop catches up, an upper bound.
    :ivar still: the loop's time while it stands still, because the loop catches up; None otherwise.
    :ivar caught_up: set when time runs on.
    """

    def __init__(self) -> None:
        self.users = 0
        self.reports = False
        self.scopes: set[PatientScope] = set()
        self._put_off: set[PatientScope] = set()  # those of scopes that the present pause has postponed
        self.offset = 0.0
        self.still: float | None = None
        self.caught_up = trio.Event()
        self._token = trio.lowlevel.current_trio_token()
        self._clock = trio.lowlevel.current_clock()  # trio.current_time() asks it by way of two more calls
        #: When the loop was last active, in trio's time; and when it began to wait, by perf_counter.
        self._alive = self._clock.current_time()
        self._waits_since = 0.0
        self._latest = self._alive  # the latest time returned: the loop's time never goes back
        self._until = 0.0  # when catching up ends at the latest, in trio's time

    def now(self) -> float:
        if self.still is None:
            time = self._clock.current_time()
            if time - self._alive <= AWAY_SECONDS:
                self._latest = max(self._latest, time - self.offset)
                return self._latest
            self._stand_still(time)  # the present turn itself takes that long
        assert self.still is not None
        return self.still

    def turn_began(self) -> float:
        """Return when the present turn began: input that is read in it came before that, or since."""
        return self._alive - self.offset if self.still is None else self.still

    def before_io_wait(self, timeout: float) -> None:
        time = self._clock.current_time()
        self._look(time, 0.0)
        self._alive, self._waits_since = time, perf_counter()

    def after_io_wait(self, timeout: float) -> None:
        """Check for a pause: trio has polled for input, and has not checked deadlines yet."""
        time = self._clock.current_time()
        was_away = self._look(time, timeout)
        if self.still is not None and not was_away:
            if self._was_quiet(timeout):
                self._go_on(self._alive)  # all input had been read when the wait began
            elif time >= self._until:
                self._go_on(time)
        self._alive = time

    def _was_quiet(self, timeout: float) -> bool:
        """Return whether no task was runnable and the wait did not find input at once."""
        return timeout > 0 and perf_counter() - self._waits_since >= QUIET_SECONDS

    def _look(self, time: float, meant: float) -> bool:
        """Check for a pause since the loop was last active; return whether there was one.

        :param meant: seconds that the loop intended to sleep.
        """
        if time - self._alive <= meant + AWAY_SECONDS:
            return False
        if self.reports and time - self._alive >= SAID_SECONDS:
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


_watch: RunVar[_Watch | None] = RunVar("gmd.net.loop_time", default=None)


@contextmanager
def watched() -> Iterator[None]:
    """Keep the loop's time while the context is open, if the loop's clock runs by itself."""
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


def report_pauses() -> None:
    """Log long pauses from now on: a start, which serves nobody yet, is none."""
    if (watch := _watch.get()) is not None:
        watch.reports = True


def _passes_by_itself(clock: trio.abc.Clock) -> bool:
    """Return whether a clock runs with the machine's. With those that tests set by hand, naps would never end."""
    return clock.deadline_to_sleep_time(clock.current_time() + 1.0) <= 1.0


def now() -> float:
    """Return the loop's time, in seconds. It never goes back, and stands still while the loop catches up."""
    watch = _watch.get()
    return trio.current_time() if watch is None else watch.now()


def arrival() -> float:
    """Return the arrival time of input that is read now, for charging clocks: the beginning of the present turn."""
    watch = _watch.get()
    return trio.current_time() if watch is None else watch.turn_began()


def is_catching_up() -> bool:
    """Return whether the loop has paused and has not yet read the input that came in the pause."""
    watch = _watch.get()
    if watch is None:
        return False
    watch.now()  # this detects that the present turn itself takes long
    return watch.still is not None


async def caught_up() -> None:
    """Return when the input that came in a pause of the loop has been read; at once if there was no pause."""
    watch = _watch.get()
    while watch is not None and is_catching_up():
        with trio.move_on_after(NAP_SECONDS):  # while the loop sleeps, nothing checks it
            await watch.caught_up.wait()


def nap_until(due: float) -> float:
    """Return until when to sleep before a deadline: at most NAP_SECONDS, so that pauses are detected.

    :param due: the deadline in the loop's time, as is the result; inf for none.
    """
    watch = _watch.get()
    if watch is None or due == inf:
        return due
    latest = watch.now() + NAP_SECONDS
    return latest if watch.still is not None else min(due, latest)


class PatientScope:
    """A :class:`trio.CancelScope` with a deadline in the loop's time: a pause in which it would come postpones it.

    :ivar due: the deadline in trio's time.
    """

    __slots__ = ("_deadline", "_scope", "_watch", "due")

    def __init__(self, deadline: float = inf) -> None:
        self._watch = _watch.get()
        self._scope = trio.CancelScope()
        self.deadline = deadline

    @property
    def deadline(self) -> float:
        """The deadline in the loop's time."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        self._deadline = deadline
        self.set_off()

    def set_off(self) -> None:
        """Update the deadline in trio's time by the watch's offset."""
        self.due = self._deadline + (0.0 if self._watch is None else self._watch.offset + ROUNDING)
        self._scope.deadline = self.due

    @property
    def cancel_called(self) -> bool:
        """Whether it was cancelled, or its deadline has come."""
        if self._watch is not None:
            self._watch.now()  # detects a long present turn before trio compares the deadline with its clock
        return self._scope.cancel_called

    @property
    def cancelled_caught(self) -> bool:
        """Whether the block was left because of the cancellation."""
        return self._scope.cancelled_caught

    def cancel(self) -> None:
        """Cancel the block."""
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
    """Return a scope as :func:`trio.move_on_after` does, in the loop's time."""
    return PatientScope(now() + seconds)


@contextmanager
def fail_after(seconds: float) -> Iterator[None]:
    """Limit the time of a block as :func:`trio.fail_after` does, in the loop's time.

    :raises trio.TooSlowError: the time is up.
    """
    with move_on_after(seconds) as scope:
        yield
    if scope.cancelled_caught:
        raise trio.TooSlowError
