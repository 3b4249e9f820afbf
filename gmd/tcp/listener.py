"""Accepts connections and keeps count of them."""

from __future__ import annotations

import structlog
import trio

from gm_protocol.codec import encode, error_reply
from gm_protocol.errors import TooMany
from gm_protocol.framing import encode_frame
from gm_protocol.messages import Limits
from gmd.arbiter import Arbiter

from .session import Session, close_gently

logger = structlog.get_logger(__name__)

#: Seconds after which a client turned away may find room.
RETRY_AFTER = 5.0
#: Clients turned away politely at once; more are closed without a word, so that turning away costs no memory.
MAX_REFUSALS = 64


class Doorkeeper:
    """Runs a session for every connection, up to the limit."""

    def __init__(self, arbiter: Arbiter, limits: Limits) -> None:
        self._arbiter = arbiter
        self._limits = limits
        self._sessions: set[Session] = set()
        self._refusals = 0
        self._stopping = False
        self._empty = trio.Event()

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return len(self._sessions)

    async def handle(self, stream: trio.abc.Stream) -> None:
        """Serve one connection until it is closed. Nothing that goes wrong in it escapes."""
        if len(self._sessions) >= self._limits.max_connections:
            await self._refuse(stream)
            return
        session = Session(stream, self._arbiter, self._limits)
        self._sessions.add(session)
        try:
            if self._stopping:
                session.stop()
            await session.run()
        except Exception:
            logger.exception("session failed", player=session.player)
        finally:
            self._sessions.discard(session)
            if self._stopping and not self._sessions:
                self._empty.set()

    async def stop(self, patience: float) -> None:
        """Let every session finish what it has in hand, for ``patience`` seconds at most."""
        self._stopping = True
        self._arbiter.watchers.stop()
        for session in self._sessions:
            session.stop()
        if self._sessions:
            with trio.move_on_after(patience):
                await self._empty.wait()

    async def _refuse(self, stream: trio.abc.Stream) -> None:
        if self._refusals >= MAX_REFUSALS:
            await trio.aclose_forcefully(stream)
            return
        limit = self._limits.max_connections
        error = TooMany(f"the server has its {limit} connections open; try again later", RETRY_AFTER)
        self._refusals += 1
        try:
            with trio.move_on_after(self._limits.frame_seconds):
                await stream.send_all(encode_frame(encode(error_reply(error, None, None))))
                await close_gently(stream)
        except trio.BrokenResourceError:
            pass  # it did not wait for the answer
        finally:
            self._refusals -= 1
            await trio.aclose_forcefully(stream)
