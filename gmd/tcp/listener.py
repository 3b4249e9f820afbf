"""Accepts connections and keeps count of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing

import trio

from gm_protocol.codec import encode, error_reply
from gm_protocol.errors import BadFrame, GmError, TooMany
from gm_protocol.framing import encode_frame
from gmd import loop_time
from gmd.addresses import source_of
from gmd.descriptors import is_last, say_at_once, shortage
from gmd.fair_reader import FairReader
from gmd.games.game import Game
from gmd.lingering import LingeringCloser
from gmd.listening import accept
from gmd.logger import get_logger
from gmd.places import Full, Place, Places
from gmd.requests.session import Authority
from gmd.services import Services
from gmd.tls import HANDSHAKE_BYTES, Certificate, HandshakeFailed, NotTls, TlsStream

from .endings import ANSWERED, FAILED, LOST, REVOKED
from .seat import seat_of
from .session import Session

logger = get_logger(__name__)

#: Seconds after which a client turned away may find room.
RETRY_AFTER = 5.0
#: Seconds that a client which is turned away has to read the reason; and how many such clients there may be under TLS:
#: each holds a descriptor and costs a handshake, and the open sessions need the processor.
REFUSAL_SECONDS = 1.0
MAX_TLS_REFUSALS = 64
#: Seconds without a request after which a session may lose its place to a newcomer of the same address. Fewer than a
#: bot's break between two games would end the sessions of healthy bots; more would keep newcomers out.
IDLE_SECONDS = 60.0
#: Sessions that have lost their places and still have an error to send. More are cut off: each holds a descriptor.
MAX_LEAVING = 1_024
#: Connections to the operator's socket, which are not counted among the others: a person, and a script or two.
MAX_OPERATORS = 8

#: The address of peers that were gone before it was looked up.
NOBODY_KNOWS = "unknown:0"


class _Guest:
    """A connection from its acceptance to its end, and how it is ended."""

    def __init__(self, stream: trio.abc.Stream, scope: trio.CancelScope) -> None:
        self.stream = stream
        self.peer = peer_of(stream)  # now: it cannot be looked up once the peer is gone
        self.scope = scope
        #: Its session, as long as it has one.
        self.session: Session | None = None

    def evict(self, error: TooMany, seconds: float) -> None:
        """Have its session send the error, and end it after so many seconds at the latest."""
        if self.session is None or not seconds:
            self.scope.cancel()
        else:
            self.session.evict(error)
            self.scope.deadline = trio.current_time() + seconds


class SessionServer:
    """Runs a session for every connection that gets a place (:mod:`gmd.places`)."""

    def __init__(
        self,
        services: Services,
        certificate: Certificate | None = None,
        authority: Authority = Authority.CLIENT,
        share: int | None = None,
    ) -> None:
        """:param certificate: puts TLS on every connection.
        :param authority: of every session.
        :param share: how many connections one address may have; without this, as many as all may.
        """
        limit = services.limits.max_connections if authority is Authority.CLIENT else MAX_OPERATORS
        self._places = Places(limit, share or limit, IDLE_SECONDS)
        self._services = services
        self._limits = services.limits
        self._says_all = _is_said(logging.DEBUG)  # looked up once: a version 1 session is short
        self._certificate = certificate
        self._authority = authority
        self._sessions: set[Session] = set()
        self._handshakes: set[trio.CancelScope] = set()
        self._refusals: set[trio.CancelScope] = set()
        self._farewells = LingeringCloser()
        #: Whether the server is stopping: it waits for its sessions to end.
        self.stopping = False
        #: How many connections were refused because there were too many.
        self.turned_away = 0
        self._empty = trio.Event()
        if authority is Authority.CLIENT:
            services.authenticator.registry.when_revoked(self._end_sessions)
        services.arbiter.when_over(self._end_seats)

    def _end_seats(self, game: Game) -> None:
        """Note that a game is over: no session plays it any more, whoever ended it."""
        for player in game.players:
            self._places.end_seat(seat_of(game.id, player), loop_time.now())

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
        return len(self._sessions) + len(self._handshakes) + len(self._refusals) + len(self._farewells)

    @property
    def places_taken(self) -> int:
        """The number of connections that have a place: with a session, or in a TLS handshake."""
        return len(self._places)

    @property
    def evicted(self) -> int:
        """The number of connections that have lost their places to others."""
        return self._places.evicted

    async def run(self, listeners: Sequence[trio.SocketListener], sessions: trio.Nursery) -> None:
        """Accept connections until cancelled; the sessions go on in their own nursery."""
        sessions.start_soon(self._farewells.run)
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
                guest = _Guest(stream, scope)
                if (short := self._short(stream)) is not None:
                    await self._refuse(stream, short)
                    return
                try:
                    place = self._enter(guest)
                except Full as full:
                    await self._refuse(stream, self._refusal(full))
                else:
                    try:
                        await self._admit(guest, place)
                    finally:
                        place.leave()
        except (trio.BrokenResourceError, trio.TooSlowError):
            pass  # the peer is gone, or reads nothing
        except Exception:
            logger.exception("connection failed")
        finally:
            await stream.aclose()

    def _enter(self, guest: _Guest) -> Place:
        """Take a place for a connection, which another one may lose for it.

        :raises Full: there is none.
        """

        def evict(full: Full) -> None:
            leaving = len(self._sessions) - len(self._places)
            guest.evict(self._eviction(full), REFUSAL_SECONDS if leaving < MAX_LEAVING else 0.0)

        return self._places.enter(source_of(guest.peer), evict, loop_time.now())

    async def _admit(self, guest: _Guest, place: Place) -> None:
        secured = await self._secured(guest.stream, self._handshakes, self._limits.frame_seconds, place)
        if secured is not None:
            await self._converse(secured, guest, place)

    async def _converse(self, stream: trio.abc.Stream, guest: _Guest, place: Place) -> None:
        peer = guest.peer
        session = guest.session = Session(stream, self._services, self._authority, peer=peer, place=place)
        self._sessions.add(session)
        try:
            if self.stopping:
                session.stop()
            await session.run()
            await self._part(stream, session.client.unacknowledged.received if session.client.unacknowledged else None)
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
            place.leave()  # an eviction has nothing to end any more
            guest.session = None
            session.release()
            if self.stopping and not self._sessions:
                self._empty.set()

    async def _secured(
        self, stream: trio.abc.Stream, under_way: set[trio.CancelScope], seconds: float, place: Place | None = None
    ) -> trio.abc.Stream | None:
        """Return the connection, with TLS if this server has it; None where the handshake fails or takes too long.

        :param under_way: counts the handshake for as long as it lasts.
        :param place: the connection's, if it has one: then it is read in turn.
        """
        if self._certificate is None:
            return stream
        peer = peer_of(stream)  # now: it cannot be looked up once the peer is gone
        reader = FairReader(stream, self._services.scheduler, place)
        secured = TlsStream(stream, self._certificate.context, reader.receive_some)
        reason = "it was not agreed on in time"
        with (
            trio.move_on_after(seconds) as handshake,
            closing(self._services.memory.open(peer, lambda _: handshake.cancel())) as account,
        ):
            account.hold_requests(HANDSHAKE_BYTES)
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
        """Let every session finish what it has received, for ``patience`` seconds at most."""
        self.stopping = True
        self._services.arbiter.watchers.stop()
        for session in self._sessions:
            session.stop()
        for handshake in self._handshakes | self._refusals:
            handshake.cancel()
        with trio.move_on_after(patience):
            if self._sessions:
                await self._empty.wait()
            await self._farewells.wait_none()

    def _refusal(self, full: Full) -> TooMany:
        """Return the refusal of one more connection."""
        name = "max_connections" if self._authority is Authority.CLIENT else "operator's connections"
        if full.by_source:
            text = f"{name}_per_address: {full.limit} of {full.limit} from this address are open; close some"
        else:
            text = f"{name}: {full.limit} of {full.limit} are open; try again later"
        return TooMany(text, RETRY_AFTER)

    def _eviction(self, full: Full) -> TooMany:
        """Return the error for a session that has lost its place."""
        begin, _, _ = str(self._refusal(full)).partition(";")
        return TooMany(f"{begin}, and another client has the place of this session; connect again", RETRY_AFTER)

    def _short(self, stream: trio.abc.Stream) -> TooMany | None:
        """Return the refusal of a connection for want of descriptors; the operator's is never refused for that."""
        if self._authority is Authority.OPERATOR or not isinstance(stream, trio.SocketStream):
            return None
        why = shortage(stream.socket.fileno())
        return None if why is None else TooMany(f"max_connections: {why}", RETRY_AFTER)

    async def _refuse(self, stream: trio.abc.Stream, error: TooMany) -> None:
        """Send a client the reason, unless there are too many handshakes for that."""
        self.turned_away += 1
        if isinstance(stream, trio.SocketStream) and is_last(stream.socket.fileno()):
            if self._certificate is None:
                say_at_once(stream.socket.fileno(), encode_frame(encode(error_reply(error, None, None))))
        elif len(self._refusals) < MAX_TLS_REFUSALS:
            secured = await self._secured(stream, self._refusals, REFUSAL_SECONDS)
            if secured is not None:
                await self._tell(secured, error)

    async def _tell(self, stream: trio.abc.Stream, error: GmError) -> None:
        """Send an error that answers no request, and close.

        It fits into the buffer of a new connection: a client that does not read it delays nobody for long.
        """
        with trio.move_on_after(REFUSAL_SECONDS):
            await stream.send_all(encode_frame(encode(error_reply(error, None, None))))
            await self._part(stream)

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

    async def _part(self, stream: trio.abc.Stream, received: Callable[[], None] | None = None) -> None:
        """Let the peer read its last reply. (A stream in memory loses nothing when it is closed.)

        :param received: called once the peer has it.
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
    """Return the address that a connection comes from, as ``host:port``; empty where there is none.

    What a client sent is read even if it is gone by then. All clients that are gone count as one address, because an
    empty one has no limit.
    """
    if not isinstance(stream, trio.SocketStream):
        return ""
    try:
        address = stream.socket.getpeername()
    except OSError:  # the peer is gone
        return NOBODY_KNOWS
    if not isinstance(address, tuple):  # that of a Unix socket is a path
        return ""
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_said(level: int) -> bool:
    """Return whether the log takes lines of a level; True where it cannot be asked."""
    enabled = getattr(logger.bind(), "is_enabled_for", None)
    return enabled is None or enabled(level)
