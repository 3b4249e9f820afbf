"""Requests without a session: from the program that embeds the daemon, and from the routes of HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import trio

from gm_protocol.codec import InvalidRequest, decode_request, encode, error_reply
from gm_protocol.errors import ShuttingDown
from gmd.handlers import dispatch
from gmd.handlers.context import Authority, ClientSession
from gmd.handlers.dispatch import PendingReply
from gmd.handlers.services import Services
from gmd.net import loop_time
from gmd.players.authenticator import Authenticated

#: A message as ``PROTOCOL`` describes it.
Json = dict[str, Any]


class Refused(Exception):
    """An error: a request was refused and has changed nothing.

    :ivar code: the protocol's error code.
    :ivar reply: the whole reply.
    """

    def __init__(self, reply: Json) -> None:
        super().__init__(reply["error"])
        self.code: str = reply["code"]
        self.reply = reply

    def __reduce__(self) -> tuple[type[Refused], tuple[Json]]:
        return type(self), (self.reply,)  # so that it can be pickled


def closed(reason: str) -> Refused:
    """Return the error for a request that comes too late."""
    return Refused(_read(encode(error_reply(ShuttingDown(reason), None, None))))


@dataclass(frozen=True, slots=True)
class Sender:
    """The client that has sent a request over HTTP."""

    #: The player that the client has authenticated as; None for none.
    authenticated: Authenticated | None
    #: The client's address, as host:port.
    peer: str
    #: When the request's last byte was read, in the loop's time.
    arrived: float
    #: Whether the request marks its player as present.
    shows_presence: bool = True
    #: Whether it has shown the spectator key: requests without a player then see everything.
    oversees: bool = False
    #: The registry's ``changed_secrets`` when the client's identity was checked and its presence noted; None if each
    #: request is to do so.
    admitted: int | None = None


class InProcessClient:
    """Answers requests from this process as a session would; the daemon waits for them when it stops."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._in_hand: set[trio.CancelScope] = set()
        self._stopping = False
        self._empty = trio.Event()

    async def ask(self, authority: Authority, kind: str, fields: Json, sender: Sender | None = None) -> Json:
        """Return the reply to one request, as a version 2 session would send it, once what it shows is durable.

        Requests are independent, and any number may run at once: a player named in one applies to that request only.

        :param sender: the client that has sent the request, if not this process; its player is the request's default.
        :raises Refused: the reply is an error.
        """
        return _read(await self.ask_encoded(authority, kind, fields, sender))

    async def ask_encoded(self, authority: Authority, kind: str, fields: Json, sender: Sender | None = None) -> bytes:
        """Return the same reply as encoded JSON, for callers that need only a part of a large one.

        :param sender: the client that has sent the request, if not this process; its player is the request's default.
        :raises Refused: the reply is an error.
        """
        await trio.lowlevel.checkpoint()  # before anything is done, so that a caller in a loop does not block others
        if self._stopping:
            raise closed("the daemon is closed")
        with trio.CancelScope() as scope:
            self._in_hand.add(scope)
            sender = sender or Sender(None, "", loop_time.now())
            session = ClientSession(
                self._services,
                authority,
                peer=sender.peer,
                authenticated=sender.authenticated,
                admitted=sender.admitted,
            )
            session.oversees |= sender.oversees
            try:
                return await self._answer(session, encode({"kind": kind, **fields}), sender)
            finally:
                self._release(scope)
        raise closed("the daemon has stopped before this request was answered")

    async def stop(self, patience: float) -> None:
        """Let pending requests finish, for ``patience`` seconds at most; then cancel them."""
        self._stopping = True
        self._services.arbiter.watchers.stop()
        if not self._in_hand:
            return
        with trio.move_on_after(patience):
            await self._empty.wait()
        for scope in self._in_hand:
            scope.cancel()
        await self._empty.wait()

    def _release(self, scope: trio.CancelScope) -> None:
        self._in_hand.discard(scope)
        if self._stopping and not self._in_hand:
            self._empty.set()

    async def _answer(self, session: ClientSession, body: bytes, sender: Sender) -> bytes:
        try:
            request = decode_request(body, strict=True)
        except InvalidRequest as invalid:
            reply = dispatch.refuse(invalid, sender.arrived)
        else:
            reply = await dispatch.answer(request, session, sender.arrived, shows_presence=sender.shows_presence)
        await self._durable(reply, session)
        if reply.code is not None:
            raise Refused(_read(reply.body))
        session.unacknowledged.received()  # in this process no reply is lost on its way
        return reply.body

    async def _durable(self, reply: PendingReply, session: ClientSession) -> None:
        """Return once a reply may be returned to its caller."""
        settled = trio.Event()
        if not dispatch.finish(reply, session, settled.set):
            await settled.wait()
        if reply.since is not None:
            self._services.metrics.latency.observe(loop_time.now() - reply.since)


def _read(encoded: bytes) -> Json:
    reply: Json = msgspec.json.decode(encoded)
    return reply
