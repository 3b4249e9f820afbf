"""The HTTP port: it accepts connections, counts and limits them, and closes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import trio
from msgspec import structs

from gm_protocol.errors import TooMany
from gm_protocol.messages import Limits
from gmd.http.asgi import Application
from gmd.http.connection import Connection, ServerContext
from gmd.http.errors import error_response, too_many_response
from gmd.logger import get_logger
from gmd.net.admission import REFUSAL_SECONDS, AdmissionControl, Incoming, PortErrors
from gmd.net.connection_slots import ConnectionSlot, ConnectionSlots, Share
from gmd.net.fair_reader import FairReader
from gmd.net.fair_scheduler import FairScheduler
from gmd.net.lingering import MAX_LINGERING, LingeringCloser
from gmd.net.listening import accept
from gmd.net.memory_ledger import MemoryLedger
from gmd.net.proxies import Proxies
from gmd.net.send_timeout import SendTimeout
from gmd.net.tls import Certificate

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease

logger = get_logger(__name__)

#: Seconds after a response when a connection may be evicted for another from the same address: twice as long as
#: reconchess's client and browsers leave one idle in a game.
IDLE_SECONDS = 5.0
#: Connections read beyond the limit, so that health and metrics are still answered; and for how many seconds.
RESERVE = 64
RESERVE_SECONDS = 2.0


class HttpServer:
    """Runs a :class:`Connection` for every client that gets a slot; no error in one reaches the others."""

    def __init__(
        self,
        app: Application,
        limits: Limits,
        max_connections: int,
        memory: MemoryLedger,
        send_timeout: SendTimeout,
        proxies: Proxies,
        certificate: Certificate | None = None,
        *,
        share: Share | None = None,
        name: str = "http_max_connections",
        scheduler: FairScheduler | None = None,
        lease: Lease | None = None,
    ) -> None:
        """:param app: answers requests.
        :param memory: the accounts of what connections hold.
        :param send_timeout: how long a client may take to read a response.
        :param proxies: their connections carry requests of many clients, and count for no address.
        :param certificate: puts TLS on every connection.
        :param share: the most connections from one address; without it, as many as from all.
        :param name: the name of the setting with the limit.
        :param scheduler: chooses the connection to read next while the loop is loaded; without one, all are read.
        :param lease: the right to serve a database; while it has run out, only health is answered.
        """
        self._stopping = trio.Event()
        self._context = ServerContext(app, limits, memory, send_timeout, proxies, lease, self._stopping)
        self._scheduler = scheduler or FairScheduler()
        self._connections: set[Connection] = set()
        not_tls = error_response(400, "this port requires TLS; use an https:// address")
        self._admission = AdmissionControl(
            ConnectionSlots(max_connections, share or Share(max_connections, max_connections), IDLE_SECONDS),
            self._connections,
            PortErrors(name, lambda error: too_many_response(error).encode(), not_tls.encode()),
            memory,
            self._scheduler,
            LingeringCloser(min(max_connections, MAX_LINGERING)),
            certificate,
            reserve=ConnectionSlots(RESERVE, Share(RESERVE, RESERVE), 0.0),
        )
        self._empty = trio.Event()

    @property
    def connections(self) -> int:
        """The number of open connections, including those about to be closed."""
        return self._admission.connections

    @property
    def evicted(self) -> int:
        """The number of connections evicted to make room for others."""
        return self._admission.slots.evicted

    @property
    def turned_away(self) -> int:
        """The number of connections refused because there were too many."""
        return self._admission.turned_away

    async def run(self, listeners: Sequence[trio.SocketListener], connections: trio.Nursery) -> None:
        """Accept until cancelled; the connections live on in their own nursery."""
        connections.start_soon(self._admission.lingering.run)

        def begin(stream: trio.SocketStream) -> None:
            connections.start_soon(self._serve, stream)

        async def accept_and_close(listener: trio.SocketListener) -> None:
            async with listener:
                await accept(listener, begin, self._note_short)

        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(accept_and_close, listener)

    def _note_short(self, error: OSError) -> None:
        logger.warning("cannot accept", reason=error.strerror, connections=len(self._connections))

    async def stop(self, patience: float) -> None:
        """Let every connection finish its request in progress, within ``patience`` seconds."""
        self._stopping.set()
        for connection in self._connections:
            connection.stop()
        self._admission.cancel_handshakes()
        with trio.move_on_after(patience):
            while self._connections or self._admission.is_handshaking:
                self._empty = trio.Event()
                await self._empty.wait()
            await self._admission.lingering.wait_none()

    async def _serve(self, stream: trio.SocketStream) -> None:
        """Serve a connection that was accepted until it ends, and close it."""
        try:
            name = stream.socket.getpeername()
            peer = self._context.proxies.client_of(name[:2] if name else None)  # a socket of this machine has no name
            with trio.CancelScope() as scope:
                await self._admit(Incoming(stream, peer, scope))
        except (OSError, trio.BrokenResourceError):
            return  # the client has closed, perhaps before it was accepted
        except Exception:
            logger.exception("http connection failed")
            return
        finally:
            await trio.aclose_forcefully(stream)
            self._empty.set()

    async def _admit(self, incoming: Incoming) -> None:
        """Serve a connection in a slot, or in the reserve where none is free."""
        if (short := self._admission.shortage(incoming)) is not None:
            await self._admission.refuse(incoming, short)
            return
        try:
            slot = self._admission.enter(incoming)
        except TooMany as full:
            await self._admit_beyond(incoming, full)
            return
        await self._serve_in(slot, incoming, self._context)

    async def _admit_beyond(self, incoming: Incoming, full: TooMany) -> None:
        """Serve a connection that has no slot: health and metrics only."""
        try:
            slot = self._admission.enter_reserve(incoming)
        except TooMany:
            await self._admission.refuse(incoming, full)
            return
        limits = self._context.limits
        limits = structs.replace(limits, frame_seconds=min(RESERVE_SECONDS, limits.frame_seconds))
        await self._serve_in(slot, incoming, replace(self._context, limits=limits), full)

    async def _serve_in(
        self, slot: ConnectionSlot, incoming: Incoming, context: ServerContext, full: TooMany | None = None
    ) -> None:
        """Serve a connection in a slot, and leave the slot.

        :param full: why it is served health and metrics only, if so.
        """
        try:
            transport = incoming.stream
            stream = await self._admission.secured(incoming, context.limits.frame_seconds, slot)
            assert isinstance(transport, trio.SocketStream)
            if stream is None:
                return
            reader = FairReader(stream, self._scheduler, slot.source)
            connection = incoming.served = Connection(stream, transport, context, slot, reader, full)
            self._connections.add(connection)
            try:
                await connection.run()
            finally:
                self._connections.discard(connection)
                incoming.served = None
        finally:
            slot.leave()
        if connection.is_refused:
            self._admission.note_turned_away()
        await self._admission.part(stream, REFUSAL_SECONDS)
