"""Opens what the daemon's bots need, and runs them."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from gmd.bots.accounts import enlist, read_token, stored_token
from gmd.bots.supervisor import BotTimeouts, Supervisor
from gmd.config import Config
from gmd.event_log.interface import LogUnreachable
from gmd.event_log.opening import data_directory
from gmd.handlers.in_process import InProcessClient
from gmd.handlers.services import Services
from gmd.lobby.roster import BotKind
from gmd.logger import get_logger
from gmd.net.listening import MAX_PATH
from gmd.tcp.listener import SessionServer
from gmd.tcp.operator import operator_listener

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease

logger = get_logger(__name__)

#: The Unix socket that the bots' processes connect to, in a folder that only the daemon's user can open.
SOCKET_NAME = "bots.sock"
#: Seconds between two attempts to register the bots while the database cannot be reached.
AGAIN_SECONDS = 1.0


class BotPort:
    """The bots' way in.

    :ivar served: the server of their sessions, and where their processes connect.
    :ivar path: that listener's path.
    """

    def __init__(self, session_server: SessionServer, listener: trio.SocketListener, path: str) -> None:
        self.served: tuple[SessionServer, Sequence[trio.SocketListener]] = (session_server, [listener])
        self.path = path


@asynccontextmanager
async def bot_port(kinds: list[BotKind], config: Config, services: Services) -> AsyncIterator[BotPort | None]:
    """Register the bots, so that nobody else takes their names, and listen for their processes.

    It is None where there are no bots, or where there cannot be a socket, which is logged.
    """
    if not kinds:
        yield None
        return
    with (
        _folder(data_directory(config.data)) as folder,
        operator_listener(folder, SOCKET_NAME) as listener,
    ):
        if listener is None:
            yield None
            return
        services.roster.at_once = config.bot_games or _processors()
        try:
            await _enlist(kinds, config, services)
        except OSError as error:
            logger.warning("there are no bots: their token cannot be stored", reason=error.strerror)
            yield None
            return
        yield BotPort(SessionServer(services), listener, str(folder / SOCKET_NAME))


@asynccontextmanager
async def running_bots(
    port: BotPort | None, config: Config, services: Services, local: InProcessClient
) -> AsyncIterator[None]:
    """Let the bots play; at the end, their games are left as they are."""
    async with trio.open_nursery() as nursery:
        if port is not None:
            timeouts = BotTimeouts(config.bot_move_timeout, config.bot_idle_timeout)
            nursery.start_soon(Supervisor(services, local, port.path, timeouts).run)
        yield
        nursery.cancel_scope.cancel()


async def _enlist(kinds: list[BotKind], config: Config, services: Services) -> None:
    """Register the bots; try again until the database can be reached.

    :raises OSError: the data directory cannot be read or written.
    """
    while True:
        try:
            await enlist(kinds, services.authenticator.registry, await _token(config, services.lease), services.roster)
            return
        except LogUnreachable as error:
            logger.warning("the bots cannot be registered", reason=str(error))
            await trio.sleep(AGAIN_SECONDS)


async def _token(config: Config, lease: Lease | None) -> str:
    """Return the token of the bots' registrations: in PostgreSQL it is kept in the database, for its standby, too.

    The first one stores that of its data directory, if games and players were copied from there.

    :raises OSError: the data directory cannot be read or written.
    :raises LogUnreachable: the database cannot be used.
    """
    directory = data_directory(config.data)
    if config.database is None or lease is None:
        return read_token(directory)
    import psycopg

    from gmd.event_log.postgres_connection import shared_secret

    first = (stored_token(directory) or secrets.token_urlsafe()).encode()
    try:
        return (await trio.to_thread.run_sync(shared_secret, config.database, lease.term, "bots", first)).decode()
    except psycopg.Error as error:
        raise LogUnreachable(f"database: it cannot be used: {str(error).strip()}") from error


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    """Yield a folder for the socket: the data directory, or a temporary one where that has too long a path."""
    if data is not None and len(os.fsencode((data / SOCKET_NAME).resolve())) <= MAX_PATH:
        yield data.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="gmd-bots-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _processors() -> int:
    return min(100, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
