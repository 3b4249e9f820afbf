"""The way in without a session: for the program that the daemon runs in, and for the routes of HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import trio

from gm_protocol.codec import InvalidRequest, decode_request, encode, error_reply
from gm_protocol.errors import ShuttingDown
from gmd import dispatch, loop_time
from gmd.dispatch import PendingReply
from gmd.players.authenticator import Authenticated
from gmd.requests.session import Authority, ClientSession
from gmd.services import Services

#: A message as ``PROTOCOL`` describes it.
Json = dict[str, Any]


class Refused(Exception):
    """A request was refused, and has changed nothing.

    :ivar code: why, in a word of the protocol.
    :ivar reply: the whole reply.
    """

    def __init__(self, reply: Json) -> None:
        super().__init__(reply["error"])
        self.code: str = reply["code"]
        self.reply = reply

    def __reduce__(self) -> tuple[type[Refused], tuple[Json]]:
        return type(self), (self.reply,)  # so that it passes between processes


def closed(reason: str) -> Refused:
    """What a request is told that comes too late."""
    return Refused(_read(encode(error_reply(ShuttingDown(reason), None, None))))


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose request it is, where somebody else has sent it and another way in has admitted them."""

    #: Who they have proved to be; None for nobody.
    authenticated: Authenticated | None
    #: Where they are, as host:port.
    peer: str
    #: When the request's last byte was read, in the loop's time.
    arrived: float
    #: Whether it counts as the player's being there.
    shows_presence: bool = True


class InProcessClient:
    """Answers requests of this process as a session does, and lets the daemon stop when they are answered."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._in_hand: set[trio.CancelScope] = set()
        self._stopping = False
        self._empty = trio.Event()

    async def ask(self, authority: Authority, kind: str, fields: Json, sender: Sender | None = None) -> Json:
        """The reply to one request, as a version 2 session would have sent it, once it is durable.

        Each is on its own, so that any number may be under way at once: a player that it names is that request's.

        :param sender: who has sent it, if not this process itself; the request is theirs unless it names a player.
        :raises Refused: the reply is an error.
        """
        return _read(await self.ask_encoded(authority, kind, fields, sender))

    async def ask_encoded(self, authority: Authority, kind: str, fields: Json, sender: Sender | None = None) -> bytes:
        """The same as JSON, for whoever wants only a part of a large reply.

        :param sender: who has sent it, if not this process itself; the request is theirs unless it names a player.
        :raises Refused: the reply is an error.
        """
        await trio.lowlevel.checkpoint()  # before anything is done: whoever asks in a loop leaves others their turn
        if self._stopping:
            raise closed("the daemon is closed")
        with trio.CancelScope() as scope:
            self._in_hand.add(scope)
            sender = sender or Sender(None, "", loop_time.now())
            session = ClientSession(self._services, authority, peer=sender.peer, authenticated=sender.authenticated)
            try:
                return await self._answer(session, encode({"kind": kind, **fields}), sender)
            finally:
                self._release(scope)
        raise closed("the daemon has stopped, and waited no longer for this request")

    async def stop(self, patience: float) -> None:
        """Let every request in hand be answered, for ``patience`` seconds at most; then break them off."""
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
        session.unacknowledged.received()  # by whoever asked: between here and there is nothing that breaks
        return reply.body

    async def _durable(self, reply: PendingReply, session: ClientSession) -> None:
        """Return once a reply may leave."""
        settled = trio.Event()
        if not dispatch.finish(reply, session, settled.set):
            await settled.wait()
        if reply.since is not None:
            self._services.metrics.latency.observe(loop_time.now() - reply.since)


def _read(encoded: bytes) -> Json:
    reply: Json = msgspec.json.decode(encoded)
    return reply
