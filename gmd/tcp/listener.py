"""The game port: it accepts connections, and runs a session on each that is admitted (:mod:`gmd.net.admission`)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import trio

from gm_protocol.codec import encode, error_reply
from gm_protocol.errors import BadFrame, GmError, TooMany
from gm_protocol.framing import encode_frame
from gmd.games.game_note import GameNote
from gmd.handlers.context import Authority
from gmd.handlers.services import Services
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.net.admission import AdmissionControl, Incoming, PortErrors
from gmd.net.connection_slots import ConnectionSlot, ConnectionSlots, Share
from gmd.net.lingering import LingeringCloser
from gmd.net.listening import accept
from gmd.net.proxies import BadProxyHeader, Proxies, client_of
from gmd.net.tls import Certificate
from gmd.tcp.conversation import ANSWERED, FAILED, LOST, REVOKED
from gmd.tcp.session import Session, seat_of

logger = get_logger(__name__)

#: Seconds without a request after which a session may lose its slot to a newcomer of the same address. Fewer than a
#: bot's break between two games would end the sessions of healthy bots; more would keep newcomers out.
IDLE_SECONDS = 60.0
#: Connections to the operator's socket, which are not counted among the others: a person, and a script or two.
MAX_OPERATORS = 8

#: The address of peers that were gone before it was looked up.
UNKNOWN_PEER = "unknown:0"


class SessionServer:
    """Runs a session for every connection that gets a slot (:mod:`gmd.net.admission`)."""

    def __init__(
        self,
        services: Services,
        certificate: Certificate | None = None,
        authority: Authority = Authority.CLIENT,
        share: Share | None = None,
        proxies: Proxies | None = None,
    ) -> None:
        """:param certificate: puts TLS on every connection.
        :param authority: of every session.
        :param share: how many connections one address may have; without this, as many as all may.
        :param proxies: those whose connections begin with a header of the PROXY protocol; None for none.
        """
        self._proxies = proxies or Proxies()
        limit = services.limits.max_connections if authority is Authority.CLIENT else MAX_OPERATORS
        self._sessions: set[Session] = set()
        self._admission = AdmissionControl(
            ConnectionSlots(limit, share or Share(limit, limit), IDLE_SECONDS),
            self._sessions,
            _errors(authority),
            services.memory,
            services.scheduler,
            LingeringCloser(),
            certificate,
        )
        self._services = services
        self._limits = services.limits
        self._says_all = _is_said(logging.DEBUG)  # looked up once: a version 1 session is short
        self._authority = authority
        #: Whether the server is stopping: it waits for its sessions to end.
        self.stopping = False
        self._empty = trio.Event()
        if authority is Authority.CLIENT:
            services.authenticator.registry.when_revoked(self._end_sessions)
        services.arbiter.feed.when_over(self._end_seats)

    def _end_seats(self, game: GameNote) -> None:
        """Note that a game is over: no session plays it any more, whoever ended it."""
        for player in game.players:
            self._admission.slots.end_seat(seat_of(game.id, player), loop_time.now())

    def _end_sessions(self, player: int) -> None:
        """End the sessions of a player who was revoked; each answers what it has received."""
        for session in list(self._sessions):
            if session.client.player == player:
                session.stop(REVOKED)

    @property
    def sessions(self) -> int:
        """The number of open sessions."""
        return len(self._sessions)

    @property
    def connections(self) -> int:
        """The number of open connections: with a session, in a TLS handshake, or about to be closed."""
        return self._admission.connections

    @property
    def slots_taken(self) -> int:
        """The number of connections that have a slot: with a session, or in a TLS handshake."""
        return len(self._admission.slots)

    @property
    def evicted(self) -> int:
        """The number of connections that have lost their slots to others."""
        return self._admission.slots.evicted

    @property
    def turned_away(self) -> int:
        """The number of connections that were refused because there were too many."""
        return self._admission.turned_away

    async def run(self, listeners: Sequence[trio.SocketListener], sessions: trio.Nursery) -> None:
        """Accept connections until cancelled; the sessions go on in their own nursery."""
        sessions.start_soon(self._admission.lingering.run)
        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(self._accept, listener, sessions)

    async def _accept(self, listener: trio.SocketListener, sessions: trio.Nursery) -> None:
        """Begin a session for every connection.

        Unlike :func:`trio.serve_listeners` it does not close the stream forcibly after the handler: that cancels, and
        took a quarter of a version 1 session.
        """

        def note_short(error: OSError) -> None:
            logger.warning("cannot accept", reason=error.strerror, sessions=len(self._sessions))

        def begin(stream: trio.SocketStream) -> None:
            sessions.start_soon(self.handle, stream)

        await accept(listener, begin, note_short)

    async def handle(self, stream: trio.abc.Stream) -> None:
        """Serve one connection until it is closed. Errors of the connection are logged, not raised."""
        try:
            with trio.CancelScope() as scope:
                incoming = Incoming(stream, await self._client_of(stream), scope)
                if self._authority is Authority.CLIENT and (short := self._admission.shortage(incoming)) is not None:
                    await self._admission.refuse(incoming, short)
                    return
                try:
                    slot = self._admission.enter(incoming)
                except TooMany as full:
                    await self._admission.refuse(incoming, full)
                else:
                    try:
                        await self._admit(incoming, slot)
                    finally:
                        slot.leave()
        except (trio.BrokenResourceError, trio.TooSlowError):
            pass  # the peer is gone, or reads nothing
        except BadProxyHeader as bad:
            logger.warning(
                "a trusted proxy sent no header of the PROXY protocol", peer=peer_of(stream), reason=str(bad)
            )
        except Exception:
            logger.exception("connection failed")
        finally:
            await stream.aclose()

    async def _client_of(self, stream: trio.abc.Stream) -> str:
        """Return the client of a connection as host:port, which for a trusted proxy's is in its header."""
        peer = peer_of(stream)
        if isinstance(stream, trio.SocketStream) and self._proxies.trusts(host_of(peer)):
            return await client_of(stream) or peer
        return peer

    async def _admit(self, incoming: Incoming, slot: ConnectionSlot) -> None:
        secured = await self._admission.secured(incoming, self._limits.frame_seconds, slot)
        if secured is not None:
            await self._converse(secured, incoming, slot)

    async def _converse(self, stream: trio.abc.Stream, incoming: Incoming, slot: ConnectionSlot) -> None:
        peer = incoming.peer
        session = incoming.served = Session(stream, self._services, self._authority, peer=peer, slot=slot)
        self._sessions.add(session)
        try:
            if self.stopping:
                session.stop()
            await session.run()
            unacknowledged = session.client.unacknowledged
            received = unacknowledged.received if unacknowledged else None
            await self._admission.part(stream, self._limits.frame_seconds, received)
        except trio.BrokenResourceError:
            session.ended_by = LOST
        except trio.TooSlowError:
            pass  # it reads too slowly, and is closed as it stands
        except Exception:
            session.ended_by = FAILED
            logger.exception("session failed", player=session.client.player, peer=peer)
        finally:
            self._note_end(session, peer)
            self._sessions.discard(session)
            slot.leave()  # an eviction has nothing to end any more
            incoming.served = None
            session.release()
            if self.stopping and not self._sessions:
                self._empty.set()

    def cut_off(self, error: GmError) -> None:
        """End all sessions with an error; they answer nothing any more."""
        self.stopping = True
        for session in list(self._sessions):
            session.cut_off(error)

    async def stop(self, patience: float) -> None:
        """Let every session finish what it has received, for ``patience`` seconds at most."""
        self.stopping = True
        self._services.arbiter.watchers.stop()
        for session in self._sessions:
            session.stop()
        self._admission.cancel_handshakes()
        with trio.move_on_after(patience):
            if self._sessions:
                await self._empty.wait()
            await self._admission.lingering.wait_none()

    def _note_end(self, session: Session, peer: str) -> None:
        """Count and log the end of a session. A version 1 session is one request, which is logged as a request is."""
        self._services.metrics.sessions[session.version, session.ended_by] += 1
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
            player=session.client.player,
            protocol=session.version or None,
            requests=session.requests,
            refusals=session.client.refusals,
            bytes_in=session.bytes_in,
            bytes_out=session.bytes_out,
            seconds=round(loop_time.now() - session.opened, 3),
        )


def peer_of(stream: trio.abc.Stream) -> str:
    """Return the address that a connection comes from, as ``host:port``; empty where there is none.

    What a client sent is read even if it is gone by then. All clients that are gone count as one address, because an
    empty one has no limit.
    """
    if not isinstance(stream, trio.SocketStream):
        return ""
    try:
        address = stream.socket.getpeername()
    except OSError:  # the peer is gone
        return UNKNOWN_PEER
    if not isinstance(address, tuple):  # that of a Unix socket is a path
        return ""
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def host_of(peer: str) -> str:
    """Return the host of a client given as host:port; empty where there is none."""
    return peer.rpartition(":")[0].strip("[]")


def _errors(authority: Authority) -> PortErrors:
    """Return what the port sends to connections without a session."""
    return PortErrors(
        limit="max_connections" if authority is Authority.CLIENT else "operator's connections",
        encode=_error_frame,
        not_tls=_error_frame(BadFrame("this port speaks TLS, and what came is not: connect with TLS")),
        evicted=", and another client has the place of this session; connect again",
    )


def _error_frame(error: GmError) -> bytes:
    return encode_frame(encode(error_reply(error, None, None)))


def _is_said(level: int) -> bool:
    """Return whether the log takes lines of a level; True where it cannot be asked."""
    enabled = getattr(logger.bind(), "is_enabled_for", None)
    return enabled is None or enabled(level)
