"""Accepts connections and keeps count of them."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Sequence

import trio

from gm_protocol.codec import encode, error_reply
from gm_protocol.errors import BadFrame, GmError, TooMany
from gm_protocol.framing import encode_frame
from gmd.descriptors import is_last, say_at_once, shortage
from gmd.handlers.call import Authority
from gmd.logger import get_logger
from gmd.parts import Parts
from gmd.tls import Certificate, HandshakeFailed, NotTls, TlsStream

from .farewell import Farewells
from .session import ANSWERED, Session

logger = get_logger(__name__)

#: Seconds after which a client turned away may find room.
RETRY_AFTER = 5.0
#: What accepting fails with where the process or the machine has no room for a connection; and for how long to pause.
OUT_OF_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
PAUSE_SECONDS = 0.1
#: Seconds a client that is turned away has to take the reason; and how many, under TLS, may be taking it at a time:
#: each holds a descriptor and costs a handshake, which those inside need the processor for.
REFUSAL_SECONDS = 1.0
MAX_TLS_REFUSALS = 64
#: Connections to the operator's socket, which are not counted among the others: a person, and a script or two.
MAX_OPERATORS = 8

#: The address of those who were gone before it was looked at.
NOBODY_KNOWS = "unknown:0"


class Doorkeeper:
    """Runs a session for every connection, up to the limit."""

    def __init__(
        self, parts: Parts, certificate: Certificate | None = None, authority: Authority = Authority.CLIENT
    ) -> None:
        """:param certificate: puts TLS on every connection.
        :param authority: what every session gets.
        """
        self._parts = parts
        self._limits = parts.limits
        self._says_all = _is_said(logging.DEBUG)  # asked once: a version 1 session is short
        self._certificate = certificate
        self._authority = authority
        self._sessions: set[Session] = set()
        self._handshakes: set[trio.CancelScope] = set()
        self._refusals: set[trio.CancelScope] = set()
        self._farewells = Farewells()
        #: Whether sessions are only being brought to their ends.
        self.stopping = False
        #: How many connections were refused because there were too many.
        self.turned_away = 0
        self._empty = trio.Event()
        if authority is Authority.CLIENT:
            parts.gate.registry.when_revoked(self._end_sessions)

    def _end_sessions(self, player: int) -> None:
        """End the sessions of a player who is none any more; each answers what it has received."""
        for session in list(self._sessions):
            if session.player == player:
                session.stop("revoked")

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return len(self._sessions)

    @property
    def connections(self) -> int:
        """How many connections are open: those with a session, still to agree on TLS, and about to be closed."""
        return self.places_taken + len(self._refusals) + len(self._farewells)

    @property
    def places_taken(self) -> int:
        """How many connections take a place: those with a session, and those still to agree on TLS."""
        return len(self._sessions) + len(self._handshakes)

    async def run(self, listeners: Sequence[trio.SocketListener], sessions: trio.Nursery) -> None:
        """Accept until cancelled; the sessions live on in their own nursery."""
        sessions.start_soon(self._farewells.run)
        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(self._accept, listener, sessions)

    async def _accept(self, listener: trio.SocketListener, sessions: trio.Nursery) -> None:
        """The loop of :func:`trio.serve_listeners`, without the forced closing behind every handler.

        That is done by cancellation, and took a quarter of a version 1 session.
        """
        while True:
            try:
                stream = await listener.accept()
            except OSError as error:
                if error.errno not in OUT_OF_ROOM:
                    raise
                logger.warning("cannot accept", reason=error.strerror, sessions=len(self._sessions))
                await trio.sleep(PAUSE_SECONDS)
            else:
                sessions.start_soon(self.handle, stream)

    async def handle(self, stream: trio.abc.Stream) -> None:
        """Serve one connection until it is closed. Nothing that goes wrong in it escapes."""
        try:
            full = self._full() or self._short(stream)
            if full is not None:
                await self._refuse(stream, full)
            elif (secured := await self._secured(stream, self._handshakes, self._limits.frame_seconds)) is not None:
                await self._converse(secured, peer_of(stream))
        except (trio.BrokenResourceError, trio.TooSlowError):
            pass  # the peer is gone, or reads nothing
        except Exception:
            logger.exception("connection failed")
        finally:
            await stream.aclose()

    async def _converse(self, stream: trio.abc.Stream, peer: str) -> None:
        session = Session(stream, self._parts, self._authority, peer=peer)
        self._sessions.add(session)
        try:
            if self.stopping:
                session.stop()
            await session.run()
            await self._part(stream, session.ends.received if session.ends else None)
        except trio.BrokenResourceError:
            session.ended_by = "lost"  # the peer is gone
        except trio.TooSlowError:
            session.ended_by = "stalled"  # it reads nothing
        except Exception:
            session.ended_by = "failed"
            logger.exception("session failed", player=session.player, peer=peer)
        finally:
            self._note_end(session, peer)
            self._sessions.discard(session)
            session.release()
            if self.stopping and not self._sessions:
                self._empty.set()

    async def _secured(
        self, stream: trio.abc.Stream, under_way: set[trio.CancelScope], seconds: float
    ) -> trio.abc.Stream | None:
        """The connection with TLS on it, where this server has it; None where there is no agreement in time.

        :param under_way: where to count the handshake for as long as it lasts.
        """
        if self._certificate is None:
            return stream
        secured = TlsStream(stream, self._certificate.context)
        peer = peer_of(stream)  # now, for nobody knows when it has gone
        reason = "it was not agreed on in time"
        with trio.move_on_after(seconds) as handshake:
            under_way.add(handshake)
            try:
                await secured.do_handshake()
                return secured
            except NotTls:
                reason = "what came is not TLS"
                await self._tell(stream, BadFrame("this port speaks TLS, and what came is not: connect with TLS"))
            except HandshakeFailed as error:
                reason = str(error)
            finally:
                under_way.discard(handshake)
        logger.debug("no TLS", reason=reason, peer=peer)
        return None

    async def stop(self, patience: float) -> None:
        """Let every session finish what it has in hand, for ``patience`` seconds at most."""
        self.stopping = True
        self._parts.arbiter.watchers.stop()
        for session in self._sessions:
            session.stop()
        for handshake in self._handshakes | self._refusals:
            handshake.cancel()
        with trio.move_on_after(patience):
            if self._sessions:
                await self._empty.wait()
            await self._farewells.wait_none()

    def _full(self) -> TooMany | None:
        """The refusal of one more connection; None where there is room for it."""
        if self._authority is Authority.OPERATOR:
            name, limit = "operator's connections", MAX_OPERATORS
        else:
            name, limit = "max_connections", self._limits.max_connections
        if self.places_taken < limit:
            return None
        return TooMany(f"{name}: {limit} of {limit} are open; try again later", RETRY_AFTER)

    def _short(self, stream: trio.abc.Stream) -> TooMany | None:
        """The refusal of a connection for want of descriptors, which the operator's connections are not refused."""
        if self._authority is Authority.OPERATOR or not isinstance(stream, trio.SocketStream):
            return None
        why = shortage(stream.socket.fileno())
        return None if why is None else TooMany(f"max_connections: {why}", RETRY_AFTER)

    async def _refuse(self, stream: trio.abc.Stream, error: TooMany) -> None:
        """Tell a client why, unless that would take a handshake too many."""
        self.turned_away += 1
        if isinstance(stream, trio.SocketStream) and is_last(stream.socket.fileno()):
            if self._certificate is None:
                say_at_once(stream.socket.fileno(), encode_frame(encode(error_reply(error, None, None))))
        elif len(self._refusals) < MAX_TLS_REFUSALS:
            secured = await self._secured(stream, self._refusals, REFUSAL_SECONDS)
            if secured is not None:
                await self._tell(secured, error)

    async def _tell(self, stream: trio.abc.Stream, error: GmError) -> None:
        """Send an error that belongs to no request, and part.

        It fits into the buffer of a new connection: a client that does not read it keeps nobody waiting for long.
        """
        with trio.move_on_after(REFUSAL_SECONDS):
            await stream.send_all(encode_frame(encode(error_reply(error, None, None))))
            await self._part(stream)

    def _note_end(self, session: Session, peer: str) -> None:
        """Count and log the end of a session. A version 1 session is one request, and told of where those are."""
        self._parts.metrics.sessions[session.version, session.ended_by] += 1
        if session.ended_by != ANSWERED:
            log = logger.info
        elif self._says_all:
            log = logger.debug
        else:
            return
        log(
            "session ended",
            reason=session.ended_by,
            peer=peer,
            player=session.player,
            protocol=session.version or None,
            requests=session.requests,
            refusals=session.refusals,
            bytes_in=session.bytes_in,
            bytes_out=session.bytes_out,
            seconds=round(trio.current_time() - session.opened, 3),
        )

    async def _part(self, stream: trio.abc.Stream, received: Callable[[], None] | None = None) -> None:
        """Let the peer read its last reply. (A stream in memory loses nothing when it is closed.)

        :param received: to be called once it has it.
        """
        if isinstance(stream, TlsStream):
            with trio.move_on_after(self._limits.frame_seconds):
                await stream.end()
            stream = stream.transport
        if isinstance(stream, trio.SocketStream):
            self._farewells.take(stream, received)
        elif received is not None:
            received()


def peer_of(stream: trio.abc.Stream) -> str:
    """Where a connection comes from, as ``host:port``; empty where that is nowhere.

    What was sent is read even where the client has gone already, whoever it was: all these count as one address, for an
    empty one has no limit.
    """
    if not isinstance(stream, trio.SocketStream):
        return ""
    try:
        address = stream.socket.getpeername()
    except OSError:  # it has gone already
        return NOBODY_KNOWS
    if not isinstance(address, tuple):  # that of a Unix socket is a path
        return ""
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_said(level: int) -> bool:
    """Whether the log takes lines of a level, as far as it can be asked."""
    enabled = getattr(logger.bind(), "is_enabled_for", None)
    return enabled is None or enabled(level)
