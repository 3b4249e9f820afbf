"""The wait of a daemon until a PostgreSQL database is reachable, and no other daemon serves it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import trio

from gmd.config import Config
from gmd.event_log.directory import DataError
from gmd.http.web import bound_health
from gmd.logger import get_logger
from gmd.net.listening import Sockets, accept
from gmd.version import VERSION

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease

logger = get_logger(__name__)

#: Seconds between two attempts, and between two lines in the log that say so.
ATTEMPT_SECONDS = 0.5
LINE_SECONDS = 5.0


async def wait_for_database(config: Config) -> None:
    """Return when the database can be reached, or refuses this daemon: opening it explains that.

    :raises DataError: it cannot be reached for ``database_timeout`` seconds.
    """
    assert config.database is not None
    try:
        from gmd.event_log.postgres_connection import plain_url, why_unreachable
    except ModuleNotFoundError:
        return  # opening the log says that the driver is missing
    began = trio.current_time()
    until, next_line = began + config.database_timeout, began
    while (reason := await trio.to_thread.run_sync(why_unreachable, plain_url(config.database))) is not None:
        now = trio.current_time()
        if now >= until:
            raise DataError(_unreachable(config, reason))
        if now >= next_line:
            logger.warning("waiting for the database", reason=reason, seconds_left=round(until - now))
            next_line = now + LINE_SECONDS
        await trio.sleep(min(ATTEMPT_SECONDS, until - now))
    if next_line > began:
        logger.info("the database can be reached", seconds=round(trio.current_time() - began, 1))


def _unreachable(config: Config, reason: str) -> str:
    from gmd.event_log.postgres_engine import shown_url

    assert config.database is not None
    waited = f" for {config.database_timeout:g} seconds" if config.database_timeout else ""
    return (
        f"database: {shown_url(config.database)} cannot be reached{waited}: {reason}. Start PostgreSQL, name another "
        "--database, or wait for longer with --database-timeout"
    )


#: Seconds for a health check to send its request, and its bytes at most.
PROBE_SECONDS = 5.0
PROBE_BYTES = 8_192
#: Connections to a port of a standby at once; the others wait in the kernel's queue.
MAX_CONNECTIONS = 32


class CannotServe(DataError):
    """The database has the lock free for this daemon, which can do nothing with it: a newer schema, or no rights."""


async def elected(config: Config, sockets: Sockets | None = None, waits: Callable[[], None] | None = None) -> Lease:
    """Return the right to serve the database once it is this daemon's, whose term is raised. Stop it at the end.

    While another daemon serves, the health port answers 503, and connections to other sockets are closed.

    :param sockets: listening sockets that this process has, which are not closed.
    :param waits: called if another daemon serves.
    :raises DataError: the database cannot be used; or another daemon serves it, and ``standby`` is off.
    :raises HttpAddressError: the daemon cannot listen on the address of the health port.
    """
    assert config.database is not None
    await wait_for_database(config)
    from gmd.event_log.lease import Lease  # these import psycopg
    from gmd.event_log.postgres_connection import plain_url
    from gmd.event_log.postgres_engine import shown_url
    from gmd.event_log.postgres_opening import check_database, explained, program_name, served_by
    from gmd.event_log.server_lock import ServerLock

    check = partial(check_database, config.database, allow_unsafe=config.allow_unsafe_database)
    await trio.to_thread.run_sync(check)
    lease = Lease(ServerLock(plain_url(config.database), program_name(), VERSION, config.lease), config.lease)
    lease.start()
    try:
        won = await _won(lease, sockets or Sockets(), config, waits)
    except BaseException:
        await lease.stop()
        raise
    if lease.error is not None:
        await lease.stop()
        try:
            with explained(config.database):
                raise lease.error
        except DataError as error:
            raise CannotServe(str(error)) from error
    if not won:
        await lease.stop()
        raise DataError(
            f"database: {shown_url(config.database)} {served_by(lease.server)}; leave out --no-standby to wait for it"
        )
    return lease


async def _won(lease: Lease, sockets: Sockets, config: Config, waits: Callable[[], None] | None) -> bool:
    """Wait until this daemon has won; return False if another one serves and this one is not to wait."""
    ours = () if sockets.health else await bound_health(config)
    waiting = sockets.duplicates()
    try:
        async with trio.open_nursery() as nursery:
            for each in [*waiting.game, *waiting.http]:
                nursery.start_soon(_turn_away, trio.SocketListener(trio.socket.from_stdlib_socket(each)), _say_nothing)
            for each in [*waiting.health, *ours]:
                say = partial(_say_standby, lease)
                nursery.start_soon(_turn_away, trio.SocketListener(trio.socket.from_stdlib_socket(each)), say)
            nursery.start_soon(_unstick, lease, config.lease)
            nursery.start_soon(_watch, lease, config, waits, nursery.cancel_scope)
            await lease.won.wait()
            nursery.cancel_scope.cancel()
    finally:
        waiting.close()
        for each in ours:
            each.close()
    return lease.won.is_set()


async def _watch(lease: Lease, config: Config, waits: Callable[[], None] | None, scope: trio.CancelScope) -> None:
    await lease.waits.wait()
    if not config.standby:
        scope.cancel()
        return
    _load_modules(config)
    if waits is not None:
        waits()
    server = lease.server
    logger.info(
        "standby: waiting for the lock of the daemon that serves",
        server=None if server is None else server.name,
        addresses=None if server is None else server.addresses,
    )


def _load_modules(config: Config) -> None:
    """Import what this daemon needs to serve, so that it takes over soon."""
    import gmd.event_log.batching
    import gmd.event_log.postgres_committer

    if config.http or config.health_port is not None:
        import gmd.http.probes
        import gmd.http.service  # noqa: F401


async def _unstick(lease: Lease, seconds: float) -> None:
    while True:
        await trio.sleep(seconds)
        lease.unstick()


async def _turn_away(listener: trio.SocketListener, say: Callable[[trio.SocketStream], Awaitable[None]]) -> None:
    """Accept connections, say something and close them, until cancelled."""
    room = trio.CapacityLimiter(MAX_CONNECTIONS)

    async def answer(stream: trio.SocketStream) -> None:
        async with room:
            with trio.move_on_after(PROBE_SECONDS):
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # it is gone
                    await say(stream)
            await trio.aclose_forcefully(stream)

    async with trio.open_nursery() as nursery:
        await accept(
            listener,
            lambda stream: nursery.start_soon(answer, stream),
            lambda error: logger.warning("cannot accept", reason=error.strerror),
        )


async def _say_nothing(stream: trio.SocketStream) -> None:
    """Say nothing: the client connects to another daemon, or to this one later."""


async def _say_standby(lease: Lease, stream: trio.SocketStream) -> None:
    """Answer a health check, whatever it asks."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < PROBE_BYTES:
        if not (data := await stream.receive_some(PROBE_BYTES)):
            return
        head += data
    serving = "another daemon" if lease.server is None else lease.server.name
    body = json.dumps({"status": "standby", "reason": f"{serving} serves; this daemon waits"}).encode()
    await stream.send_all(
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncache-control: no-store\r\n"
        b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    )
