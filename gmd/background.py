"""A daemon in its own thread, for programs that do not use trio."""

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
from gmd.event_log.interface import Superseded
from gmd.handlers.in_process import closed

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

#: Seconds for the thread to begin on a busy machine. An interrupt may come before the thread exists.
BEGIN_SECONDS = 5.0


class BackgroundDaemon:
    """A daemon that runs until it is closed: by :meth:`close`, or at the end of a ``with`` block or the interpreter.

    It may be used from any thread but its own, and from several at once.

    :ivar addresses: the (host, port) pairs it listens on.
    :ivar http_addresses: the (host, port) pairs of HTTP; empty where HTTP is off.
    """

    def __init__(self, config: Config = EMBEDDED) -> None:
        """Start the daemon, and return when it answers. The errors are those of :func:`gmd.open_daemon`."""
        self._stop = trio.Event()
        self._begun = Event()
        self._closing = False
        self._token: trio.lowlevel.TrioToken | None = None
        self._failure: BaseException | None = None
        started: Future[Daemon] = Future()
        # A program that ends without closing must still end: atexit closes the daemon, which is too late for a thread
        # that is not a daemon thread.
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
        """The TCP port of the game port."""
        return self._daemon.port

    @property
    def http_port(self) -> int | None:
        """The TCP port of HTTP; None where HTTP is off."""
        return self._daemon.http_port

    # --- Calls without a socket ---------------------------------------------------------------------------------

    def ask(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Send one request without a socket, and block until its reply comes: see :meth:`gmd.Daemon.ask`.

        :raises gmd.Refused: the reply is an error, or the daemon is closed.
        """
        return self.run(_ask, kind, fields)

    def ask_as_operator(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Send a request as the operator, who may act for any player and end any game; else as :meth:`ask`."""
        return self.run(_ask_as_operator, kind, fields)

    def run(self, function: Callable[[Daemon, *_Ts], Awaitable[_T]], *args: *_Ts) -> _T:
        """Run an async function in the daemon's thread, and block until it has returned.

        :param function: is called with the daemon and the arguments. Until it awaits, it blocks the event loop, and no
            client is served.
        :raises gmd.Refused: the daemon is closed.
        """
        scope = trio.CancelScope()

        async def running() -> _T:
            with scope:
                return await function(self._daemon, *args)
            raise AssertionError("nobody is left to tell")  # only an interrupt cancels the scope

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
        """Finish the pending requests, for up to ``config.stop_timeout`` seconds, and end; do nothing a second time.

        An interrupt (KeyboardInterrupt) is raised once the daemon has closed; a second one is raised at once.

        :raises BaseException: the error that ended the daemon before this call.
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
            error.add_note(f"The daemon had failed: {failure!r}")  # it must not hide the block's error

    def _soon(self, function: Callable[[], object]) -> None:
        """Call a function in the daemon's event loop, if that runs (not before it begins, nor after it ends)."""
        if self._token is not None:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(function)

    def _join(self) -> None:
        if not self._begun.wait(BEGIN_SECONDS):
            return  # the thread could not be started; if it begins after all, it ends by itself
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._thread.join()
            raise

    def _run(self, config: Config, started: Future[Daemon]) -> None:
        """Run the daemon; this is the thread's target."""
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
        if self._closing:  # close() was called before there was a token
            self._stop.set()
        async with open_daemon(config) as daemon:
            started.set_result(daemon)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_raise_when_superseded, daemon)
                await self._stop.wait()
                nursery.cancel_scope.cancel()


async def _raise_when_superseded(daemon: Daemon) -> None:
    await daemon.superseded()
    raise Superseded


async def _ask(daemon: Daemon, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return await daemon.ask(kind, **fields)


async def _ask_as_operator(daemon: Daemon, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return await daemon.ask_as_operator(kind, **fields)


def background_daemon(config: Config = EMBEDDED) -> BackgroundDaemon:
    """Start a daemon in its own thread, for any program: a script, a notebook, asyncio, a web application.

    It returns when the daemon answers and its port is known. Use it in a ``with`` statement, or close it yourself.

    :param config: by default games are kept in memory, and the port is any free one.
    :raises ConfigError: the certificate or its key cannot be used.
    :raises DataError: the data directory cannot be used.
    :raises gmd.daemon.HttpAddressError: the daemon cannot listen on HTTP's address.
    :raises OSError: the daemon cannot listen on the game port's address.
    """
    return BackgroundDaemon(config)
