"""The running of a daemon's services, and their end: pending requests are finished, or refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from gmd.config import Config
from gmd.event_log.interface import EventLog, Superseded
from gmd.in_process import InProcessClient
from gmd.retention import prune_finished
from gmd.services import Services
from gmd.tcp.listener import SessionServer
from gmd.web import Web

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease

#: Seconds for pending HTTP requests once the sessions have ended: each is short, and the daemon is to exit within five.
HTTP_STOP_SECONDS = 0.25
#: Seconds for the last words of sessions once another daemon has taken over.
LOST_STOP_SECONDS = 0.25

#: A session server and the listeners it accepts sessions from.
ServedPort = tuple[SessionServer, Sequence[trio.SocketListener]]


@asynccontextmanager
async def writing(log: EventLog) -> AsyncIterator[None]:
    """Run the log; at the end, have it write what is pending."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_write, log)
        try:
            yield
        finally:
            log.stop()


async def _write(log: EventLog) -> None:
    """Run the log until it is stopped; cancelling the daemon does not cancel pending writes."""
    with trio.CancelScope(shield=True):
        await log.run()


@asynccontextmanager
async def serving(
    services: Services, ports: Sequence[ServedPort], local: InProcessClient, web: Web, config: Config
) -> AsyncIterator[None]:
    """Play games and answer clients; at the end, pending requests get ``config.stop_timeout`` seconds."""
    lease = services.lease
    async with trio.open_nursery() as sessions:
        web.start(sessions)  # it still reports the daemon's health while the daemon stops
        async with trio.open_nursery() as tasks:
            tasks.start_soon(services.arbiter.run)
            tasks.start_soon(services.authenticator.registry.run)
            tasks.start_soon(services.lobby.run)
            tasks.start_soon(services.ranked.run)
            tasks.start_soon(services.contests.run)
            if config.keep_finished is not None:
                tasks.start_soon(prune_finished, services.arbiter, config.keep_finished)
            if lease is not None:
                tasks.start_soon(lease.watch)
                tasks.start_soon(_cut_off_when_lost, lease, ports, local)
            for session_server, listeners in ports:
                tasks.start_soon(session_server.run, listeners, sessions)
            try:
                yield
            finally:
                with trio.CancelScope(shield=True):
                    tasks.cancel_scope.cancel()
                    await trio.lowlevel.checkpoint()  # a task that accepts may be about to use its listener
                    is_lost = lease is not None and lease.lost.is_set()
                    await _close(ports, local, LOST_STOP_SECONDS if is_lost else config.stop_timeout)
                    await web.stop(HTTP_STOP_SECONDS)
        sessions.cancel_scope.cancel()


async def _cut_off_when_lost(lease: Lease, ports: Sequence[ServedPort], local: InProcessClient) -> None:
    await lease.lost.wait()
    for session_server, _ in ports:
        session_server.cut_off(Superseded())
    await local.stop(0.0)


async def _close(ports: Sequence[ServedPort], local: InProcessClient, patience: float) -> None:
    for _, listeners in ports:
        for listener in listeners:
            await listener.aclose()
    async with trio.open_nursery() as stopping:
        stopping.start_soon(local.stop, patience)
        for session_server, _ in ports:
            stopping.start_soon(session_server.stop, patience)
