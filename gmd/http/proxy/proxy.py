"""Finds the daemon that answers a request, sends it there, and again if it was not carried out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, TypeVar

import h11
import trio

from gm_protocol.errors import Moved
from gmd import loop_time
from gmd.cluster.directory import Directory
from gmd.cluster.links import Links
from gmd.cluster.routing import OfGame, Where
from gmd.cluster.shards import LOBBY, shard_of

from .destinations import destination
from .origin import HEADER, PLAYS, Origin
from .peers import PeerConnection, Peers, Unreachable
from .watch import Watch

#: Seconds for which a request is tried again while nobody owns what it is for; and between two attempts, if nothing is
#: known to have changed. As for requests of the game protocol (:mod:`gmd.cluster.router`).
PATIENCE_SECONDS = 10.0
RETRY_SECONDS = 0.1
#: Seconds after which a client may try again what could not be passed on.
RETRY_AFTER = 1.0
#: The most seconds that an unused connection to another daemon is kept.
IDLE_SECONDS = 10.0
#: The status by which a daemon sends a request back that another one owns (RFC 9110, 15.5.20).
MISDIRECTED = 421

#: Headers that concern one connection alone (RFC 9110, 7.6.1), and those that :func:`_head` writes anew.
_OF_CONNECTION = frozenset(
    [b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect"]
)
_NOT_SENT = _OF_CONNECTION | {HEADER, b"content-length"}
#: Headers of the owner's response that the entry daemon's connection writes for itself, or that are not for clients.
_NOT_GIVEN = _OF_CONNECTION | {b"date", PLAYS}
#: Methods of requests that may be repeated when nobody knows whether they were carried out.
_REPEATABLE = frozenset(["GET", "OPTIONS"])

_T = TypeVar("_T")


class Undone(Exception):
    """An error: a request was not carried out, or may be repeated."""


class Unknown(Exception):
    """An error: nobody knows whether a request was carried out."""


class Passed(NamedTuple):
    """A request as it is passed on.

    :ivar target: its path and query, as the client has sent them.
    :ivar headers: with lower-case names.
    :ivar client: the other end of the client's connection.
    :ivar arrived: when it had arrived whole, in the loop's time.
    """

    method: str
    target: bytes
    headers: Iterable[tuple[bytes, bytes]]
    body: bytes
    client: tuple[str, int] | None
    scheme: str
    arrived: float


class Answer:
    """The response of another daemon, whose body is still to be read.

    :ivar headers: those that the client gets, in their order, without those of its connection.
    :ivar connection: where the rest comes from.
    """

    def __init__(self, head: h11.Response, connection: PeerConnection, shard: int) -> None:
        self.status = head.status_code
        self.headers = [(name, value) for name, value in head.headers if name not in _NOT_GIVEN]
        self.connection = connection
        self.shard = shard
        self.plays = any(name == PLAYS for name, _ in head.headers)
        names = {name for name, _ in head.headers}
        #: Whether it is a stream, which ends with the connection.
        self.is_stream = b"content-length" not in names and b"transfer-encoding" not in names and self.status == 200


class Proxy:
    """Passes requests on. It has to run.

    :ivar forwarded: how many requests it has sent to other daemons.
    :ivar retried: how many attempts were in vain.
    """

    def __init__(self, directory: Directory, links: Links, frame_seconds: float) -> None:
        """:param frame_seconds: how long the daemons keep a connection on which nothing comes."""
        self.directory = directory
        self.watch = Watch(directory)
        self.forwarded = 0
        self.retried = 0
        self._idle_seconds = min(IDLE_SECONDS, frame_seconds / 2)
        self._peers = Peers(links, self._idle_seconds)

    async def run(self) -> None:
        """Follow the map, and close connections that nobody uses, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.watch.run)
            try:
                while True:
                    await trio.sleep(self._idle_seconds)
                    self._peers.drop_idle()
            finally:
                self._peers.close()

    # --- Who answers --------------------------------------------------------------------------------------------------

    @staticmethod
    def shard(path: str) -> int | None:
        """Return the shard whose owner answers requests for a path; None if any daemon does."""
        found = destination(path)
        if isinstance(found, OfGame):
            return shard_of(found.game_id)
        return LOBBY if found is Where.LOBBY else None

    def is_mine(self, shard: int) -> bool:
        """Return whether this daemon may answer for a shard now, from memory."""
        return self.directory.is_mine(shard)

    async def becomes_mine(self, shard: int) -> bool:
        """Return whether this daemon may answer for a shard, as soon as its lease is valid."""
        if self.directory.is_mine(shard):
            return True
        if self.directory.owner_of(shard) != self.directory.me:
            return False
        with trio.move_on_after(PATIENCE_SECONDS):
            try:
                await self.directory.lease_valid()
            except Moved:
                return False
        return self.directory.is_mine(shard)

    # --- Passing on ---------------------------------------------------------------------------------------------------

    async def ask(self, request: Passed, shard: int) -> Answer | None:
        """Return the response of a shard's owner; None if that is this daemon, which may answer now.

        :raises Moved: there is no response; the sentence says whether the request may have been carried out.
        """
        return await self._ask(shard, request.method, partial(self._exchange, request, shard))

    async def ask_plain(self, request: Passed, shard: int) -> bytes | None:
        """Return the whole response to a plain request (:mod:`gmd.http.plain`) as bytes; else as :meth:`ask`."""
        return await self._ask(shard, request.method, partial(self._exchange_plain, request))

    async def _ask(self, shard: int, method: str, exchange: Callable[[PeerConnection], Awaitable[_T]]) -> _T | None:
        until = trio.current_time() + PATIENCE_SECONDS
        while True:
            try:
                if await self.becomes_mine(shard):
                    return None
                return await self._ask_owner(shard, method, exchange)
            except Undone:
                self.retried += 1
            except Unknown:
                raise _moved(
                    "the server that has this went away before it answered, and nobody knows whether this was done; "
                    "look before you try again"
                ) from None
            if trio.current_time() >= until:
                raise _moved("no server can answer this at the moment, and nothing was done; try again soon")
            with trio.move_on_at(min(until, trio.current_time() + RETRY_SECONDS)):
                await self.directory.changed()

    async def _ask_owner(self, shard: int, method: str, exchange: Callable[[PeerConnection], Awaitable[_T]]) -> _T:
        """Send a request to the owner of a shard, if that is another daemon; return its response.

        :raises Undone: it was not carried out, or may be repeated.
        :raises Unknown: nobody knows whether it was carried out.
        :raises Moved: the owner serves no HTTP.
        """
        owner = self.directory.owner_of(shard)
        peer = None if owner is None else self.directory.peers().get(owner)
        if owner is None or owner == self.directory.me or peer is None:
            raise Undone
        if peer.http is None:
            raise _moved("the server that has this does not serve HTTP; its operator can turn it on")
        connection: PeerConnection | None = None
        with self.watch.asking(owner):
            try:
                connection = await self._peers.take(owner)
                self.forwarded += 1
                return await exchange(connection)
            except Unreachable:
                raise Undone from None
            except trio.BrokenResourceError:
                pass
        if connection is not None and method not in _REPEATABLE:
            raise Unknown
        raise Undone

    async def _exchange(self, request: Passed, shard: int, connection: PeerConnection) -> Answer:
        """Send a request and return the response, once its head has come.

        :raises Undone: the other daemon has sent it back.
        :raises trio.BrokenResourceError: the connection is lost.
        """
        try:
            await connection.send(_head(request), request.body)
            head = await connection.head()
            if head.status_code != MISDIRECTED:
                return Answer(head, connection, shard)
            while await connection.piece():
                pass
        except BaseException:
            connection.close()
            raise
        self._peers.give_back(connection)
        raise Undone

    async def _exchange_plain(self, request: Passed, connection: PeerConnection) -> bytes:
        """Send a plain request and return the whole response; raises what :meth:`_exchange` does."""
        try:
            answer = await connection.exchange(_plain_head(request) + request.body)
        except BaseException:
            connection.close()
            raise
        if answer.ends:
            connection.close()
        else:
            self._peers.give_back(connection)
        if answer.status == MISDIRECTED:
            raise Undone
        return answer.data

    async def piece(self, answer: Answer) -> bytes:
        """Return the next part of a response's body; an empty one at its end.

        :raises trio.BrokenResourceError: the connection is lost before the end.
        """
        data: bytes | None = None
        with self.watch.asking(answer.connection.daemon):
            data = await answer.connection.piece()
        if data is None:
            raise trio.BrokenResourceError("the other daemon is gone")
        return data

    @contextmanager
    def reading(self, answer: Answer) -> Iterator[None]:
        """Keep the connection of a response for other requests if the block has read all of it, or else close it."""
        try:
            yield
        finally:
            self._peers.give_back(answer.connection)


def _moved(sentence: str) -> Moved:
    error = Moved(sentence)
    error.retry_after = RETRY_AFTER
    return error


def _head(request: Passed) -> h11.Request:
    """Return the head of a request as another daemon gets it."""
    headers = [(name, value) for name, value in request.headers if name not in _NOT_SENT]
    if not any(name == b"host" for name, _ in headers):
        headers.append((b"host", b"localhost"))  # HTTP/1.0 does without
    if request.body or request.method == "POST":
        headers.append((b"content-length", b"%d" % len(request.body)))
    headers.append((HEADER, _origin(request)))
    return h11.Request(method=request.method, target=request.target, headers=headers)


def _plain_head(request: Passed) -> bytes:
    """Return the head of a plain request as another daemon gets it, which finds it plain, too."""
    headers = [(name, value) for name, value in request.headers if name != HEADER]
    lines = [b"%b: %b\r\n" % header for header in (*headers, (HEADER, _origin(request)))]
    return b"%b %b HTTP/1.1\r\n%b\r\n" % (request.method.encode(), request.target, b"".join(lines))


def _origin(request: Passed) -> bytes:
    return Origin(request.client, request.scheme, loop_time.now() - request.arrived).encoded()
