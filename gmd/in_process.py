"""The way in without a session: for the program that the daemon runs in, and for the routes of HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
import trio

from gm_protocol.codec import InvalidRequest, decode_request, encode, error_reply
from gm_protocol.errors import GmError, ShuttingDown
from gm_protocol.messages import AnyRequest
from gmd import dispatch, loop_time
from gmd.players.authenticator import Authenticated
from gmd.requests.call import Authority, Call
from gmd.services import Services
from gmd.turns import UnacknowledgedResults
from gmd.watchers import Subscription

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
    counts_as_contact: bool = True


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
            try:
                return await self._answer(self._call(authority, sender), encode({"kind": kind, **fields}))
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

    def _call(self, authority: Authority, sender: Sender | None) -> Call:
        sender = sender or Sender(None, "", loop_time.now())
        return Call(
            services=self._services,
            player=None if sender.authenticated is None else sender.authenticated.player,
            strict=True,
            arrived=sender.arrived,
            attending=_alone,
            peer=sender.peer,
            authenticated=sender.authenticated,
            counts_as_contact=sender.counts_as_contact,
            unacknowledged=UnacknowledgedResults(self._services.arbiter.turns, lambda: 0),
            authority=authority,
        )

    async def _answer(self, call: Call, body: bytes) -> bytes:
        try:
            request = decode_request(body, strict=True)
        except InvalidRequest as invalid:
            raise Refused(_read(dispatch.invalid(invalid, call))) from None
        encoded, code = await self._durably(request, call)
        self._services.metrics.latency.observe(loop_time.now() - call.arrived, 1)
        if code is not None:
            raise Refused(_read(encoded))
        return encoded

    async def _durably(self, request: AnyRequest, call: Call) -> tuple[bytes, str | None]:
        """The encoded reply, once it may leave, and the code where it is an error; it is counted."""
        encoded, commit, code = await dispatch.answer(request, call)
        if commit is not None and not commit.done:
            try:
                await commit.wait()
            except GmError as error:
                return dispatch.fail(request, error, call), error.code
        dispatch.count(request, code, call)
        call.unacknowledged.received()  # by whoever asked: between here and there is nothing that breaks
        return encoded, code


@asynccontextmanager
async def _alone(subscription: Subscription) -> AsyncIterator[None]:
    """A request that waits: nothing comes behind it that could end the waiting."""
    yield


def _read(encoded: bytes) -> Json:
    reply: Json = msgspec.json.decode(encoded)
    return reply
