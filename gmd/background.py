"""A daemon in a thread of its own: for programs that are not trio's."""

from __future__ import annotations

import atexit
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Any, TypeVar, TypeVarTuple

import trio

from gmd.config import EMBEDDED, Config
from gmd.daemon import Daemon, open_daemon
from gmd.in_process import closed

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

#: Seconds for a thread to begin on a busy machine. An interrupt may have come before there was one.
BEGIN_SECONDS = 5.0


class BackgroundDaemon:
    """A daemon that runs until it is closed: by :meth:`close`, a ``with`` block's end, or the interpreter's.

    It may be used from any thread but its own, and from several at once.

    :ivar addresses: the (host, port) pairs it listens on.
    :ivar http_addresses: the pairs it serves HTTP on; none where it does not.
    """

    def __init__(self, config: Config = EMBEDDED) -> None:
        """Returns when it answers. Raises what :func:`gmd.open_daemon` does."""
        self._stop = trio.Event()
        self._begun = Event()
        self._closing = False
        self._token: trio.lowlevel.TrioToken | None = None
        self._failure: BaseException | None = None
        started: Future[Daemon] = Future()
        # A program that ends without closing is to end: atexit closes, which for other threads would come too late.
        self._thread = Thread(target=self._run, args=(config, started), name="gmd daemon", daemon=True)
        atexit.register(self.close)
        try:
            self._thread.start()
            self._daemon = started.result()
        except BaseException:  # KeyboardInterrupt among them
            self.close()
            raise
        self.addresses = self._daemon.addresses
        self.http_addresses = self._daemon.http_addresses

    @property
    def port(self) -> int:
        """The TCP port it listens on."""
        return self._daemon.port

    @property
    def http_port(self) -> int | None:
        """The TCP port it serves HTTP on; None where it does not."""
        return self._daemon.http_port

    # --- Calls without a socket ---------------------------------------------------------------------------------

    def ask(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Send one request without a socket, and block until its reply is there: see :meth:`gmd.Daemon.ask`.

        :raises gmd.Refused: the reply is an error, or the daemon is closed.
        """
        return self.run(_ask, kind, fields)

    def ask_as_operator(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """The same, as the operator, who may act for any player and end any game."""
        return self.run(_ask_as_operator, kind, fields)

    def run(self, function: Callable[[Daemon, *_Ts], Awaitable[_T]], *args: *_Ts) -> _T:
        """Run an async function in the daemon's thread, and block until it has returned.

        :param function: is given the daemon, with its arbiter, and the arguments. While it does not await, nobody
            else is served.
        :raises gmd.Refused: the daemon is closed.
        """
        scope = trio.CancelScope()

        async def running() -> _T:
            with scope:
                return await function(self._daemon, *args)
            raise AssertionError("nobody is left to tell")  # only an interrupt cancels it

        assert self._token is not None
        try:
            return trio.from_thread.run(running, trio_token=self._token)
        except (trio.RunFinishedError, trio.Cancelled):
            raise closed("the daemon is closed") from None
        except KeyboardInterrupt:
            self._soon(scope.cancel)
            raise

    # --- Its life -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Finish the requests in hand, for up to ``config.stop_timeout`` seconds, and end. Does nothing a second time.

        An interrupt (KeyboardInterrupt) is raised when it has closed; a second one at once.

        :raises BaseException: what had ended the daemon before.
        """
        self._closing = True
        self._soon(self._stop.set)
        self._join()
        atexit.unregister(self.close)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def __enter__(self) -> BackgroundDaemon:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.close()
        except Exception as failure:
            if error is None:
                raise
            error.add_note(f"The daemon had failed: {failure!r}")  # the block's error is not to be hidden by it

    def _soon(self, function: Callable[[], object]) -> None:
        """Call a function in the daemon's thread, if it is there (still, or yet)."""
        if self._token is not None:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(function)

    def _join(self) -> None:
        if not self._begun.wait(BEGIN_SECONDS):
            return  # it could not be started; if it begins yet, it ends by itself
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._thread.join()
            raise

    def _run(self, config: Config, started: Future[Daemon]) -> None:
        """What the thread does."""
        self._begun.set()
        try:
            trio.run(self._serve, config, started)
        except BaseException as error:
            if started.done():
                self._failure = error
            else:
                started.set_exception(error)

    async def _serve(self, config: Config, started: Future[Daemon]) -> None:
        self._token = trio.lowlevel.current_trio_token()
        if self._closing:  # asked for while there was no token yet
            self._stop.set()
        async with open_daemon(config) as daemon:
            started.set_result(daemon)
            await self._stop.wait()


async def _ask(daemon: Daemon, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return await daemon.ask(kind, **fields)


async def _ask_as_operator(daemon: Daemon, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return await daemon.ask_as_operator(kind, **fields)


def background_daemon(config: Config = EMBEDDED) -> BackgroundDaemon:
    """Start a daemon in a thread of its own, for any program: a script, a notebook, asyncio, a web application.

    It returns when the daemon answers, with its port known. Use it in a ``with`` statement, or close it yourself.

    :param config: without one, games are in memory, and the port is any free one.
    :raises ConfigError: the certificate or its key cannot be used.
    :raises DataError: the data directory cannot be used.
    :raises gmd.daemon.HttpAddressError: HTTP's address cannot be listened on.
    :raises OSError: the address cannot be listened on.
    """
    return BackgroundDaemon(config)
