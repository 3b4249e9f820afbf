"""Links: a persistent connection to each other daemon that lives, and those that have come in from them.

Each of two daemons connects to the other, and asks over its own connection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import trio

from gm_protocol.errors import GmError, Internal
from gmd.logger import get_logger

from .answering import Answerer, Handlers, Incoming, TakeAsk
from .calling import Caller, LinkLost
from .directory import Directory
from .forwarding import Forward
from .handshake import HandshakeRefused, OtherVersion, greet, take_greeting
from .link_messages import LINK, Greeting, LinkMessage
from .link_tls import Contexts, Passage, tls_refusal, under_tls
from .turn_writes import TurnWrites
from .unproved import Unproved
from .vitals import LinkVitals

logger = get_logger(__name__)

#: Seconds before another attempt to connect.
RECONNECT_SECONDS = 0.1
#: Seconds before that attempt where the other side has refused this daemon.
REFUSED_SECONDS = 0.5

#: Opens a connection to the port for links of a daemon.
Dial = Callable[[int], Awaitable[trio.abc.Stream]]

#: Serves a connection of another role than links have; it gets the daemon at the other end, too.
ServeRole = Callable[[trio.abc.Stream, int], Awaitable[None]]

_M = TypeVar("_M", bound=LinkMessage)


class Links:
    """All links of one daemon.

    Messages are subclasses of :class:`~gmd.cluster.link_messages.LinkMessage`. Every daemon registers the same handlers
    before :meth:`run`.
    """

    def __init__(
        self, directory: Directory, secret: bytes, dial: Dial, certificate: Contexts | None = None, gather: float = 0.0
    ) -> None:
        """:param secret: what all daemons of the cluster share, and nobody else.
        :param certificate: puts TLS on all connections; None for plaintext.
        :param gather: for how many seconds messages may gather while the event loop is busy.
        """
        self._directory = directory
        self._secret = secret
        self._dial_bare = dial
        self._certificate = certificate
        self._handlers = Handlers()
        self._turn_writes = TurnWrites(gather)
        #: Handlers of the asks of this daemon to itself.
        self._local: dict[str, Callable[[Any, int], Awaitable[LinkMessage]]] = {}
        self._callers: dict[int, Caller] = {}
        self._noted: dict[int, int] = {}
        #: The connections that have come in from each daemon; and the dead daemons, whose ids nobody gets again.
        self._incoming: defaultdict[int, set[trio.CancelScope]] = defaultdict(set)
        self._dead: set[int] = set()
        #: The reason last logged for which there is no link to a daemon, and none from it.
        self._refused_by: dict[int, str] = {}
        self._refused: dict[int, str] = {}
        self._roles: dict[str, ServeRole] = {LINK: self._answer_link}
        self._unproved = Unproved()
        #: The connection that each daemon's asks come on, and an event for its end.
        self._answered: dict[int, tuple[trio.CancelScope, trio.Event]] = {}
        self._nursery: trio.Nursery | None = None

    # --- What is done with messages -----------------------------------------------------------------------------------

    def on_ask(self, message: type[_M], handler: Callable[[_M, int], Awaitable[LinkMessage]]) -> None:
        """Answer asks of a type: the handler gets the message and the daemon that asks, in a task of its own.

        A GmError that it raises becomes the asker's. If the asker goes away, it is not cancelled.
        """

        def take(asked: _M, incoming: Incoming) -> None:
            self.spawn(self._answer, handler, asked, incoming)

        self.take_asks(message, take)
        self._local[message.__name__] = handler

    def take_asks(self, message: type[_M], take: Callable[[_M, Incoming], None]) -> None:
        """Have asks of a type taken in the link's own task, for those that can be answered without waiting."""
        self._register(self._handlers.asks, message, take)

    def on_note(self, message: type[_M], handler: Callable[[_M, int], None]) -> None:
        """Take notes of a type: the handler gets the note and the daemon that sent it. It must not block."""
        self._register(self._handlers.notes, message, handler)

    def on_gap(self, handler: Callable[[int], None]) -> None:
        """Call back with a daemon some of whose notes were dropped because too many waited."""
        self._handlers.gaps.append(handler)

    def on_connection(self, role: str, serve: ServeRole) -> None:
        """Serve connections of another role, which other daemons :meth:`open`; they are closed when it returns."""
        self._roles[role] = serve

    def _register(self, handlers: dict[str, Callable[..., None]], message: type[_M], take: Callable[..., None]) -> None:
        name = message.__name__
        if name in handlers:
            raise ValueError(f"{name} has a handler already")
        handlers[name] = take

    async def _answer(
        self, handler: Callable[[_M, int], Awaitable[LinkMessage]], message: _M, incoming: Incoming
    ) -> None:
        try:
            incoming.answer(await handler(message, incoming.daemon))
        except GmError as error:
            incoming.refuse(error)
        except Exception:
            logger.exception("another daemon's message could not be answered", name=type(message).__name__)
            incoming.refuse(Internal("the server failed on this request; its log says why"))

    # --- Messages to others -------------------------------------------------------------------------------------------

    async def ask(self, daemon: int, message: LinkMessage) -> LinkMessage:
        """Ask another daemon, or this one, and return the answer. It waits for the link while that daemon lives.

        :raises GmError: the other daemon refused.
        :raises LinkLost: the link was lost, or the daemon does not live; ``sent`` says whether it may have been done.
        """
        if daemon == self._directory.me:
            return await self._local[type(message).__name__](message, daemon)
        return await self.caller(daemon).ask(message)

    def tell(self, daemon: int, note: LinkMessage) -> None:
        """Send a note to another daemon: in order, in batches, once, if both live long enough; else it is dropped.

        This daemon takes its own at once.
        """
        if daemon == self._directory.me:
            self._handlers.notes[type(note).__name__](note, daemon)
            return
        caller = self._callers.get(daemon)
        if caller is None and daemon in self._directory.peers() and self._nursery is not None:
            caller = self._begin(daemon)
        if caller is not None:
            caller.tell(note)

    async def notes_acknowledged(self, daemon: int) -> None:
        """Return when another daemon has taken all notes that it was sent so far, or is gone."""
        if (caller := self._callers.get(daemon)) is not None:
            await caller.notes_acknowledged()

    def caller(self, daemon: int) -> Caller:
        """Return the link to another daemon.

        :raises LinkLost: it does not live.
        """
        caller = self._callers.get(daemon)
        if caller is None:
            if daemon not in self._directory.peers() or self._nursery is None:
                raise LinkLost(daemon, sent=False)
            caller = self._begin(daemon)
        return caller

    def reaches(self, daemon: int) -> bool:
        """Return whether there is a connection to another daemon now."""
        caller = self._callers.get(daemon)
        return caller is not None and caller.is_connected

    def vitals(self) -> tuple[LinkVitals, ...]:
        """Return the state and the counts of the link to each other living daemon."""
        name, peers, counts = Forward.__name__, self._directory.peers(), self._handlers.counts
        return tuple(
            LinkVitals(
                daemon,
                peers[daemon].game if daemon in peers else "",
                caller.is_connected,
                caller.counts.get(name, 0),
                counts[daemon][name] if daemon in counts else 0,
                caller.notes,
            )
            for daemon, caller in self._callers.items()
        )

    # --- Connections --------------------------------------------------------------------------------------------------

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep a link to each other living daemon, until cancelled."""
        with self._turn_writes.running():
            await self._keep_links(task_status)

    async def _keep_links(self, task_status: trio.TaskStatus[None]) -> None:
        async with trio.open_nursery() as self._nursery:
            try:
                self._follow()
                task_status.started()
                while True:
                    await self._directory.changed()
                    self._follow()
            finally:
                self._nursery = None
                for caller in self._callers.values():
                    caller.leave()

    def spawn(self, function: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """Run a task until :meth:`run` is cancelled."""
        if self._nursery is not None:
            self._nursery.start_soon(function, *arguments)

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Serve a connection that has come in until it ends, and close it."""
        try:
            await self._serve(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await trio.aclose_forcefully(stream)

    async def open(self, daemon: int, role: str) -> trio.abc.Stream:
        """Return a new connection to a daemon, after the handshake; it carries whatever its role says.

        It is a socket of this machine where the daemons have ports, also under TLS.

        :raises OSError: the daemon cannot be reached.
        :raises trio.BrokenResourceError: the connection broke.
        :raises HandshakeRefused: it is not that daemon, or takes no more connections now.
        """
        stream = await self._dial(daemon)
        try:
            await self._greet(stream, daemon, role)
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        if self._certificate is None:
            return stream
        passage = Passage(stream)
        self.spawn(passage.run)
        return passage.inside

    async def _dial(self, daemon: int) -> trio.abc.Stream:
        """Return a new connection to a daemon, under TLS if it is to be.

        :raises OSError: the daemon cannot be reached.
        :raises HandshakeRefused: TLS cannot be established.
        """
        stream = await self._dial_bare(daemon)
        if self._certificate is None:
            return stream
        try:
            return await under_tls(stream, self._certificate.client, server_side=False)
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise

    async def _greet(self, stream: trio.abc.Stream, daemon: int, role: str = LINK) -> None:
        try:
            await greet(stream, self._secret, self._directory.me, daemon, role)
        except trio.BrokenResourceError as error:
            raise tls_refusal(error) or error from None

    async def _serve(self, stream: trio.abc.Stream) -> None:
        greeted = await self._greeted(stream)
        if greeted is None:
            return
        stream, greeting = greeted
        serve, daemon = self._roles.get(greeting.role), greeting.daemon
        self._refused.pop(daemon, None)
        if serve is None or daemon in self._dead:
            logger.warning("a connection between daemons is refused", role=greeting.role, daemon=daemon)
            return
        with trio.CancelScope() as scope:
            self._incoming[daemon].add(scope)
            try:
                await self._serve_role(serve, stream, greeting)
            finally:
                self._incoming[daemon].discard(scope)
                if not self._incoming[daemon]:
                    del self._incoming[daemon]

    async def _serve_role(self, serve: ServeRole, stream: trio.abc.Stream, greeting: Greeting) -> None:
        if self._certificate is None or greeting.role == LINK:
            await serve(stream, greeting.daemon)
            return
        passage = Passage(stream)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(passage.run)
            await serve(passage.inside, greeting.daemon)
            await trio.aclose_forcefully(passage.inside)  # what it has sent still passes

    async def _answer_link(self, stream: trio.abc.Stream, daemon: int) -> None:
        """Take a daemon's asks and notes; ignore the rest of an earlier connection."""
        while (older := self._answered.get(daemon)) is not None:
            older[0].cancel()
            await older[1].wait()
        scope, ended = self._answered[daemon] = trio.CancelScope(), trio.Event()
        try:
            with scope:
                await Answerer(stream, daemon, self._handlers, self._noted, self._turn_writes).run()
        finally:
            del self._answered[daemon]
            ended.set()

    async def _greeted(self, stream: trio.abc.Stream) -> tuple[trio.abc.Stream, Greeting] | None:
        """Do the handshake on a connection that has come in, and return it; None if it is refused."""
        with self._unproved.place(stream) as is_admitted:
            if not is_admitted:
                logger.warning("a connection to the port for links is closed: too many are in their handshake")
                return None
            try:
                if self._certificate is not None:
                    stream = await under_tls(stream, self._certificate.server, server_side=True)
                return stream, await take_greeting(stream, self._secret, self._directory.me)
            except OtherVersion as other:
                if self._directory.peers().get(other.daemon) is None or _is_new(self._refused, other.daemon, other):
                    logger.warning("no link from a daemon", daemon=other.daemon, reason=str(other))
                return None
            except HandshakeRefused as refused:
                logger.warning("a connection to the port for links is refused", reason=str(refused))
                return None

    def _follow(self) -> None:
        """Begin links to new daemons, and end those to and from dead ones: one may not know yet that it is dead."""
        living = self._directory.peers()
        for daemon in [*self._callers]:
            if daemon not in living:
                self._callers.pop(daemon).leave()
                self._noted.pop(daemon, None)
                self._handlers.counts.pop(daemon, None)
                self._refused_by.pop(daemon, None)
                self._refused.pop(daemon, None)
                self._dead.add(daemon)
                for scope in self._incoming.pop(daemon, ()):
                    scope.cancel()
        for daemon in living:
            if daemon != self._directory.me and daemon not in self._callers:
                self._begin(daemon)

    def _begin(self, daemon: int) -> Caller:
        assert self._nursery is not None
        caller = self._callers[daemon] = Caller(daemon, self._handlers.codec, self._turn_writes)
        self._nursery.start_soon(self._keep, caller)
        return caller

    async def _keep(self, caller: Caller) -> None:
        """Keep a link connected until its daemon is gone."""
        with trio.CancelScope() as scope:
            caller.on_gone = scope.cancel
            while not caller.is_gone:
                try:
                    await self._connect_once(caller)
                except (OSError, trio.BrokenResourceError, trio.ClosedResourceError) as error:
                    logger.debug("no link to a daemon", daemon=caller.daemon, reason=str(error))
                except HandshakeRefused as refused:
                    if _is_new(self._refused_by, caller.daemon, refused):
                        reason = f"{refused}; its log may say more"
                        logger.warning("no link to a daemon", daemon=caller.daemon, reason=reason)
                    await trio.sleep(REFUSED_SECONDS)
                await trio.sleep(RECONNECT_SECONDS)

    async def _connect_once(self, caller: Caller) -> None:
        stream = await self._dial(caller.daemon)
        try:
            await self._greet(stream, caller.daemon)
            self._refused_by.pop(caller.daemon, None)
            await caller.run(stream)
        finally:
            await trio.aclose_forcefully(stream)


def _is_new(said: dict[int, str], daemon: int, refused: HandshakeRefused) -> bool:
    """Note a refusal; return whether it is to be logged: once for each daemon, and not with each attempt."""
    reason = str(refused)
    if said.get(daemon) == reason:
        return False
    said[daemon] = reason
    return True


@asynccontextmanager
async def running_links(links: Links) -> AsyncIterator[None]:
    """Run links for as long as the context is open."""
    async with trio.open_nursery() as nursery:
        await nursery.start(links.run)
        try:
            yield
        finally:
            nursery.cancel_scope.cancel()


__all__ = ["Dial", "Incoming", "LinkLost", "Links", "TakeAsk", "running_links"]
