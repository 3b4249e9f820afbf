"""Admission of connections, for every port: slots, evictions, refusals, TLS handshakes, and the close at the end.

A port says what it sends to connections that it does not serve (:class:`PortErrors`), and serves the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from contextlib import closing
from functools import partial
from typing import NamedTuple, Protocol

import trio

from gm_protocol.errors import TooMany
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.net.addresses import source_of
from gmd.net.connection_slots import ConnectionSlot, ConnectionSlots, Full
from gmd.net.descriptors import is_last, say_at_once, shortage
from gmd.net.fair_reader import FairReader
from gmd.net.fair_scheduler import FairScheduler
from gmd.net.lingering import LingeringCloser
from gmd.net.memory_ledger import MemoryLedger
from gmd.net.tls import HANDSHAKE_BYTES, Certificate, HandshakeFailed, NotTls, TlsStream

logger = get_logger(__name__)

#: Seconds after which a refused client may find a slot.
RETRY_SECONDS = 5.0
#: Seconds that a client has to read a refusal, or the error of its eviction; and how many clients may be refused at a
#: time under TLS: each holds a descriptor and costs a handshake, and the open connections need the processor.
REFUSAL_SECONDS = 1.0
MAX_TLS_REFUSALS = 64
#: Evicted connections that may still have an error to send. More are cut off: each holds a descriptor.
MAX_LEAVING = 1_024


class PortErrors(NamedTuple):
    """What a port sends to connections that it does not serve.

    :ivar limit: the name of the limit of connections.
    :ivar encode: returns the bytes of a refusal.
    :ivar not_tls: the bytes for a client that sends plaintext where the port has TLS.
    :ivar evicted: the end of the sentence for an evicted connection; None if it is sent the refusal's.
    """

    limit: str
    encode: Callable[[TooMany], bytes]
    not_tls: bytes
    evicted: str | None = None


class Served(Protocol):
    """What serves a connection that has been admitted."""

    def evict(self, error: TooMany) -> bool:
        """End soon, and send the error where it fits; return False if the connection has to be cut off instead."""


class Incoming:
    """A connection from its acceptance to its end, and how it is evicted.

    :ivar peer: its client as host:port; empty if it counts for no address.
    :ivar served: what serves it; None until then, and afterwards.
    """

    __slots__ = ("_scope", "peer", "served", "stream")

    def __init__(self, stream: trio.abc.Stream, peer: str, scope: trio.CancelScope) -> None:
        """:param scope: cancelled to cut it off."""
        self.stream = stream
        self.peer = peer
        self.served: Served | None = None
        self._scope = scope

    def evict(self, error: TooMany | None) -> None:
        """Have it end within :data:`REFUSAL_SECONDS`, with an error; cut it off if there is none to be sent."""
        if self.served is None or error is None or not self.served.evict(error):
            self._scope.cancel()
        else:
            self._scope.deadline = trio.current_time() + REFUSAL_SECONDS


class AdmissionControl:
    """The connections of one port.

    :ivar slots: the slots of connections within the limit.
    :ivar lingering: closes connections after their last reply; it has to run.
    :ivar turned_away: how many connections were refused because there were too many.
    """

    def __init__(
        self,
        slots: ConnectionSlots,
        served: Sized,
        errors: PortErrors,
        memory: MemoryLedger,
        scheduler: FairScheduler,
        lingering: LingeringCloser,
        certificate: Certificate | None = None,
        reserve: ConnectionSlots | None = None,
    ) -> None:
        """:param served: what serves connections, evicted ones included: only its length is used.
        :param certificate: puts TLS on every connection.
        :param reserve: slots of connections beyond the limit.
        """
        self.slots = slots
        self.lingering = lingering
        self._served = served
        self._errors = errors
        self._memory = memory
        self._scheduler = scheduler
        self._certificate = certificate
        self._reserve = reserve
        #: TLS handshakes: of connections that have a slot, and of those that are refused.
        self._handshakes: set[trio.CancelScope] = set()
        self._refusals: set[trio.CancelScope] = set()
        self.turned_away = 0

    @property
    def connections(self) -> int:
        """The number of open connections, including those about to be closed."""
        return len(self._served) + len(self._handshakes) + len(self._refusals) + len(self.lingering)

    @property
    def is_handshaking(self) -> bool:
        """Whether TLS handshakes are under way."""
        return bool(self._handshakes or self._refusals)

    def enter(self, incoming: Incoming) -> ConnectionSlot:
        """Return a slot for a connection, which may evict another.

        :raises TooMany: no slot is free, and no connection can be evicted.
        """
        return self._enter(self.slots, incoming)

    def enter_reserve(self, incoming: Incoming) -> ConnectionSlot:
        """Return a slot beyond the limit; raises what :meth:`enter` does."""
        assert self._reserve is not None
        return self._enter(self._reserve, incoming)

    def _enter(self, slots: ConnectionSlots, incoming: Incoming) -> ConnectionSlot:
        try:
            return slots.enter(source_of(incoming.peer), partial(self._evict, incoming), loop_time.now())
        except Full as full:
            raise self._refusal(full) from None

    def _evict(self, incoming: Incoming, full: Full) -> None:
        leaving = len(self._served) - len(self.slots) - len(self._reserve or ())
        incoming.evict(self._eviction(full) if leaving < MAX_LEAVING else None)

    def _refusal(self, full: Full) -> TooMany:
        advice = "close some" if full.by_source else "try again later"
        return TooMany(f"{self._reached(full)}; {advice}", RETRY_SECONDS)

    def _eviction(self, full: Full) -> TooMany:
        if self._errors.evicted is None:
            return self._refusal(full)
        return TooMany(f"{self._reached(full)}{self._errors.evicted}", RETRY_SECONDS)

    def _reached(self, full: Full) -> str:
        if full.by_source:
            return f"{self._errors.limit}_per_address: {full.limit} of {full.limit} from this address are open"
        return f"{self._errors.limit}: {full.limit} of {full.limit} are open"

    def shortage(self, incoming: Incoming) -> TooMany | None:
        """Return the refusal of a connection for want of descriptors; None if there are enough."""
        if not isinstance(incoming.stream, trio.SocketStream):
            return None
        why = shortage(incoming.stream.socket.fileno())
        return None if why is None else TooMany(f"{self._errors.limit}: {why}", RETRY_SECONDS)

    def note_turned_away(self) -> None:
        """Count a connection that was refused."""
        self.turned_away += 1

    async def refuse(self, incoming: Incoming, error: TooMany) -> None:
        """Send a client the reason, unless there are too many handshakes for that."""
        self.turned_away += 1
        stream = incoming.stream
        if isinstance(stream, trio.SocketStream) and is_last(stream.socket.fileno()):
            if self._certificate is None:
                say_at_once(stream.socket.fileno(), self._errors.encode(error))
        elif len(self._refusals) < MAX_TLS_REFUSALS:
            secured = await self.secured(incoming, REFUSAL_SECONDS, None)
            if secured is not None:
                await self._send_last(secured, self._errors.encode(error))

    async def secured(self, incoming: Incoming, seconds: float, slot: ConnectionSlot | None) -> trio.abc.Stream | None:
        """Return a connection, with TLS if this port has it; None where the handshake fails or takes too long.

        :param seconds: how long it may take.
        :param slot: the connection's; None for one that is refused, whose handshake its address pays for, too.
        """
        if self._certificate is None:
            return incoming.stream
        under_way = self._refusals if slot is None else self._handshakes
        reader = FairReader(incoming.stream, self._scheduler, source_of(incoming.peer) if slot is None else slot.source)
        secured = TlsStream(incoming.stream, self._certificate.context, reader.receive_some)
        reason = "it was not agreed on in time"
        with (
            trio.move_on_after(seconds) as handshake,
            closing(self._memory.open(incoming.peer, lambda _: handshake.cancel())) as account,
        ):
            account.hold_requests(HANDSHAKE_BYTES)
            under_way.add(handshake)
            try:
                await secured.do_handshake()
                return secured
            except NotTls:
                reason = "what came is not TLS"
                await self._send_last(incoming.stream, self._errors.not_tls)
            except HandshakeFailed as error:
                reason = str(error)
            finally:
                under_way.discard(handshake)
        logger.debug("no TLS", reason=reason, peer=incoming.peer)
        return None

    async def _send_last(self, stream: trio.abc.Stream, words: bytes) -> None:
        """Send an error that answers no request, and close.

        It fits into the buffer of a new connection: a client that does not read it delays nobody for long.
        """
        with trio.move_on_after(REFUSAL_SECONDS):
            await stream.send_all(words)
            await self.part(stream, REFUSAL_SECONDS)

    async def part(self, stream: trio.abc.Stream, seconds: float, received: Callable[[], None] | None = None) -> None:
        """Let the peer read its last reply. (A stream in memory loses nothing when it is closed.)

        :param seconds: how long the end of TLS may take.
        :param received: called once the peer has it.
        """
        if isinstance(stream, TlsStream):
            with trio.move_on_after(seconds):
                await stream.end()
            stream = stream.transport
        if isinstance(stream, trio.SocketStream):
            self.lingering.take(stream, received)
        elif received is not None:
            received()

    def cancel_handshakes(self) -> None:
        """Cut off the connections whose handshakes are under way: the port is stopping."""
        for handshake in self._handshakes | self._refusals:
            handshake.cancel()
