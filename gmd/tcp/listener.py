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
#: Seconds a client that is turned away has to take the reason; and how many, under TLS, may be taking it at a time:
#: each holds a descriptor and costs a handshake, which those inside need the processor for.
REFUSAL_SECONDS = 1.0
MAX_TLS_REFUSALS = 64
#: Seconds without a request after which a session may give up its place to another of the same address: less than a
#: bot's break between two games would end the sessions of bots that are well, more would keep out those who come.
IDLE_SECONDS = 60.0
#: Sessions that have given up their places and still have their last words to send. Beyond that they are cut off: each
#: holds a descriptor.
MAX_LEAVING = 1_024
#: Connections to the operator's socket, which are not counted among the others: a person, and a script or two.
MAX_OPERATORS = 8

#: The address of those who were gone before it was looked at.
NOBODY_KNOWS = "unknown:0"


class _Guest:
    """A connection from its acceptance to its end, and how it is told to go."""

    def __init__(self, stream: trio.abc.Stream, scope: trio.CancelScope) -> None:
        self.stream = stream
        self.peer = peer_of(stream)  # now, for nobody knows when it has gone
        self.scope = scope
        #: Its session, as long as it has one.
        self.session: Session | None = None

    def evict(self, error: TooMany, seconds: float) -> None:
        """Have its session say why, and end it after so many seconds at the latest."""
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
        :param authority: what every session gets.
        :param share: how many connections one address may have; without this, as many as all may.
        """
        limit = services.limits.max_connections if authority is Authority.CLIENT else MAX_OPERATORS
        self._places = Places(limit, share or limit, IDLE_SECONDS)
        self._services = services
        self._limits = services.limits
        self._says_all = _is_said(logging.DEBUG)  # asked once: a version 1 session is short
        self._certificate = certificate
        self._authority = authority
        self._sessions: set[Session] = set()
        self._handshakes: set[trio.CancelScope] = set()
        self._refusals: set[trio.CancelScope] = set()
        self._farewells = LingeringCloser()
        #: Whether sessions are only being brought to their ends.
        self.stopping = False
        #: How many connections were refused because there were too many.
        self.turned_away = 0
        self._empty = trio.Event()
        if authority is Authority.CLIENT:
            services.authenticator.registry.when_revoked(self._end_sessions)
        services.arbiter.when_over(self._end_seats)

    def _end_seats(self, game: Game) -> None:
        """Note that a game is over, whoever has ended it: no session plays it any more."""
        for player in game.players:
            self._places.end_seat(seat_of(game.id, player), loop_time.now())

    def _end_sessions(self, player: int) -> None:
        """End the sessions of a player who is none any more; each answers what it has received."""
        for session in list(self._sessions):
            if session.client.player == player:
                session.stop(REVOKED)

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return len(self._sessions)

    @property
    def connections(self) -> int:
        """How many connections are open: those with a session, still to agree on TLS, and about to be closed."""
        return len(self._sessions) + len(self._handshakes) + len(self._refusals) + len(self._farewells)

    @property
    def places_taken(self) -> int:
        """How many connections take a place: those with a session, and those still to agree on TLS."""
        return len(self._places)

    @property
    def evicted(self) -> int:
        """How many connections have given up their places to others."""
        return self._places.evicted

    async def run(self, listeners: Sequence[trio.SocketListener], sessions: trio.Nursery) -> None:
        """Accept until cancelled; the sessions live on in their own nursery."""
        sessions.start_soon(self._farewells.run)
        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(self._accept, listener, sessions)

    async def _accept(self, listener: trio.SocketListener, sessions: trio.Nursery) -> None:
        """Begin a session for every connection.

        None is closed forcibly behind its handler, as :func:`trio.serve_listeners` has it: that is done by
        cancellation, and took a quarter of a version 1 session.
        """

        def note_short(error: OSError) -> None:
            logger.warning("cannot accept", reason=error.strerror, sessions=len(self._sessions))

        def begin(stream: trio.SocketStream) -> None:
            sessions.start_soon(self.handle, stream)

        await accept(listener, begin, note_short)

    async def handle(self, stream: trio.abc.Stream) -> None:
        """Serve one connection until it is closed. Nothing that goes wrong in it escapes."""
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
        """A place for a connection, which may be another's.

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
            pass  # it reads too slowly, and is closed as it is
        except Exception:
            session.ended_by = FAILED
            logger.exception("session failed", player=session.client.player, peer=peer)
        finally:
            self._note_end(session, peer)
            self._sessions.discard(session)
            place.leave()  # whoever is to leave now has its last words already
            guest.session = None
            session.release()
            if self.stopping and not self._sessions:
                self._empty.set()

    async def _secured(
        self, stream: trio.abc.Stream, under_way: set[trio.CancelScope], seconds: float, place: Place | None = None
    ) -> trio.abc.Stream | None:
        """The connection with TLS on it, where this server has it; None where there is no agreement in time.

        :param under_way: where to count the handshake for as long as it lasts.
        :param place: the connection's, if it has one: then it is read in turns.
        """
        if self._certificate is None:
            return stream
        peer = peer_of(stream)  # now, for nobody knows when it has gone
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
        """Let every session finish what it has in hand, for ``patience`` seconds at most."""
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
        """The refusal of one more connection."""
        name = "max_connections" if self._authority is Authority.CLIENT else "operator's connections"
        if full.by_source:
            text = f"{name}_per_address: {full.limit} of {full.limit} from this address are open; close some"
        else:
            text = f"{name}: {full.limit} of {full.limit} are open; try again later"
        return TooMany(text, RETRY_AFTER)

    def _eviction(self, full: Full) -> TooMany:
        """The last words to a session that has given up its place."""
        begin, _, _ = str(self._refusal(full)).partition(";")
        return TooMany(f"{begin}, and another client has the place of this session; connect again", RETRY_AFTER)

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
