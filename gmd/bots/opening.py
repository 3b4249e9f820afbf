"""Opens what the daemon's bots need, and runs them."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from gmd.cluster.shards import LOBBY
from gmd.config import Config, ConfigError
from gmd.event_log.opening import data_directory
from gmd.in_process import InProcessClient
from gmd.logger import get_logger
from gmd.roster import BotKind, kinds_of
from gmd.services import Services
from gmd.tcp.listener import SessionServer
from gmd.tcp.operator import operator_listener
from gmd.unix_socket import MAX_PATH

from .accounts import enlist, read_token, stored_token
from .supervisor import Patience, Supervisor

if TYPE_CHECKING:
    from gmd.cluster.lobby.service import LobbyService
    from gmd.cluster.member import Member

logger = get_logger(__name__)

#: The Unix socket that the bots' processes connect to, in a folder that only the daemon's user can open.
SOCKET_NAME = "bots.sock"
#: Seconds for which the start of a daemon waits until the bots are registered; and between two attempts to do so.
ENLIST_SECONDS = 5.0
AGAIN_SECONDS = 1.0


def bots_of(config: Config) -> list[BotKind]:
    """Return the bots that the configuration names.

    :raises ConfigError: there is no such bot, or it needs an extra that is not installed.
    """
    kinds = kinds_of(config.bots)
    for kind in kinds:
        if missing := [module for module in kind.needs if find_spec(module) is None]:
            raise ConfigError(
                f"bots: {kind.name} needs {', '.join(missing)}: install gmd with the extra train, or leave it out"
            )
    return kinds


class BotPort:
    """The bots' way in.

    :ivar served: the server of their sessions, and where their processes connect.
    :ivar path: that listener's path.
    """

    def __init__(self, session_server: SessionServer, listener: trio.SocketListener, path: str) -> None:
        self.served: tuple[SessionServer, Sequence[trio.SocketListener]] = (session_server, [listener])
        self.path = path


@asynccontextmanager
async def bot_port(
    kinds: list[BotKind], config: Config, services: Services, member: Member | None = None
) -> AsyncIterator[BotPort | None]:
    """Register the bots, so that nobody else takes their names, and listen for their processes.

    It is None where there are no bots, or where there cannot be a socket, which is logged.

    :param member: this daemon among others, of which the lobby's owner registers the bots; None for one that is alone.
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
        if member is None:
            try:
                token = read_token(data_directory(config.data))
            except OSError as error:
                logger.warning("there are no bots: their token cannot be stored", reason=error.strerror)
                yield None
                return
            await enlist(kinds, services.authenticator.registry, token, services.roster)
        yield BotPort(SessionServer(services), listener, str(folder / SOCKET_NAME))


@asynccontextmanager
async def running_bots(
    port: BotPort | None,
    kinds: list[BotKind],
    config: Config,
    services: Services,
    local: InProcessClient,
    member: Member | None = None,
) -> AsyncIterator[None]:
    """Let the bots play; at the end, their games are left as they are.

    :param member: this daemon among others: the bots play while it owns the lobby. None for a daemon that is alone.
    """

    async def play() -> None:
        if port is not None:
            patience = Patience(config.bot_move_timeout, config.bot_idle_timeout)
            await Supervisor(services, local, port.path, patience).run()

    async with trio.open_nursery() as nursery:
        if member is None:
            nursery.start_soon(play)
        else:
            ready = trio.Event()
            nursery.start_soon(_play_with_lobby, [] if port is None else kinds, config, services, member, play, ready)
            with trio.move_on_after(ENLIST_SECONDS):
                await ready.wait()
        yield
        nursery.cancel_scope.cancel()


async def _play_with_lobby(
    kinds: list[BotKind],
    config: Config,
    services: Services,
    member: Member,
    play: Callable[[], Awaitable[None]],
    ready: trio.Event,
) -> None:
    """Register the bots and let them play whenever this daemon has the lobby, until cancelled.

    :param ready: set once the bots of the server are known here.
    """
    lobby = member.lobby
    if not lobby.is_running and member.membership.owner_of(LOBBY) not in (None, member.membership.me):
        ready.set()  # its owner has named them when this daemon reported to it
    while True:
        await _until(lobby, is_running=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_play_here, kinds, config, services, lobby, play, ready)
            await _until(lobby, is_running=False)
            nursery.cancel_scope.cancel()


async def _until(lobby: LobbyService, *, is_running: bool) -> None:
    while lobby.is_running != is_running:
        await lobby.turned()


async def _play_here(
    kinds: list[BotKind],
    config: Config,
    services: Services,
    lobby: LobbyService,
    play: Callable[[], Awaitable[None]],
    ready: trio.Event,
) -> None:
    """Register the bots, make them known to the other daemons, and let them play, until cancelled."""
    token = await _shared_token(config) if kinds else ""
    await enlist(kinds, services.authenticator.registry, token, services.roster, again=True)
    ready.set()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lobby.bots.tell)
        nursery.start_soon(play)


async def _shared_token(config: Config) -> str:
    """Return the token of the bots of all daemons, which is in the database.

    The first daemon stores it: that of its data directory, if games and players were copied from there.
    """
    import psycopg

    from gmd.cluster.connecting import plain_url
    from gmd.cluster.secrets import shared_secret

    assert config.database is not None
    while True:
        try:
            first = (stored_token(data_directory(config.data)) or secrets.token_urlsafe()).encode()
            return (await trio.to_thread.run_sync(shared_secret, plain_url(config.database), "bots", first)).decode()
        except (psycopg.Error, OSError) as error:
            logger.warning("the bots' token cannot be read", reason=str(error).strip())
            await trio.sleep(AGAIN_SECONDS)


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
