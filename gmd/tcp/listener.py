"""Accepts connections and keeps count of them."""

from __future__ import annotations

import errno
from collections.abc import Sequence

import structlog
import trio

from gm_protocol.codec import encode, error_reply
from gm_protocol.errors import TooMany
from gm_protocol.framing import encode_frame
from gm_protocol.messages import Limits
from gmd.arbiter import Arbiter
from gmd.spectators import Spectators

from .farewell import Farewells
from .session import Session

logger = structlog.get_logger(__name__)

#: Seconds after which a client turned away may find room.
RETRY_AFTER = 5.0
#: What accepting fails with where the process or the machine has no room for a connection; and for how long to pause.
OUT_OF_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
PAUSE_SECONDS = 0.1
#: Seconds a client that is turned away has to take the reason.
REFUSAL_SECONDS = 1.0


class Doorkeeper:
    """Runs a session for every connection, up to the limit."""

    def __init__(self, arbiter: Arbiter, limits: Limits, spectators: Spectators | None = None) -> None:
        """:param spectators: who may watch live games in full; nobody, if it is not said."""
        self._arbiter = arbiter
        self._limits = limits
        self._spectators = spectators or Spectators()
        self._sessions: set[Session] = set()
        self._farewells = Farewells()
        self._stopping = False
        self._empty = trio.Event()

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return len(self._sessions)

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
        if len(self._sessions) >= self._limits.max_connections:
            await self._refuse(stream)
            return
        session = Session(stream, self._arbiter, self._limits, self._spectators)
        self._sessions.add(session)
        try:
            if self._stopping:
                session.stop()
            await session.run()
            self._part(stream)
        except (trio.BrokenResourceError, trio.TooSlowError):
            pass  # the peer is gone, or reads nothing
        except Exception:
            logger.exception("session failed", player=session.player)
        finally:
            self._sessions.discard(session)
            if self._stopping and not self._sessions:
                self._empty.set()
            await stream.aclose()

    async def stop(self, patience: float) -> None:
        """Let every session finish what it has in hand, for ``patience`` seconds at most."""
        self._stopping = True
        self._arbiter.watchers.stop()
        for session in self._sessions:
            session.stop()
        with trio.move_on_after(patience):
            if self._sessions:
                await self._empty.wait()
            await self._farewells.wait_none()

    async def _refuse(self, stream: trio.abc.Stream) -> None:
        limit = self._limits.max_connections
        error = TooMany(f"max_connections: {limit} of {limit} are open; try again later", RETRY_AFTER)
        try:
            # It fits into the buffer of a new connection: a client that does not read it keeps nobody waiting.
            with trio.move_on_after(REFUSAL_SECONDS):
                await stream.send_all(encode_frame(encode(error_reply(error, None, None))))
                self._part(stream)
        except trio.BrokenResourceError:
            pass  # it did not wait for the answer
        finally:
            await stream.aclose()

    def _part(self, stream: trio.abc.Stream) -> None:
        """Let the peer read its last reply. (A stream in memory loses nothing when it is closed.)"""
        if isinstance(stream, trio.SocketStream):
            self._farewells.take(stream)
