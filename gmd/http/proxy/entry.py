"""The daemon to which a client is connected: it answers itself, or gives the owner's response back."""

from __future__ import annotations

from typing import Any

import trio
from hypercorn.typing import ASGIFramework

from gm_protocol.errors import Moved
from gmd import loop_time
from gmd.cluster.vitals import HttpCounts
from gmd.http.intake import ARRIVED, REFUSED
from gmd.http.plain import Plain
from gmd.http.shortcut import Shortcut
from gmd.http.streaming import TAKE

from .proxy import Answer, Passed, Proxy
from .streams import OwnedStream, PassedStream


class EntryApp:
    """The application that clients of a cluster's daemon reach."""

    def __init__(self, app: ASGIFramework, proxy: Proxy, counts: HttpCounts) -> None:
        self._app = app
        self._proxy = proxy
        self._counts = counts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request that has arrived whole (:mod:`gmd.http.intake`)."""
        shard = None if REFUSED in scope["extensions"] else self._proxy.shard(scope["path"])
        if shard is None:
            await self._app(scope, receive, send)
            return
        self._counts.requests += 1
        if self._proxy.is_mine(shard):
            await self._answer(scope, receive, send, shard)
            return
        body = await receive()
        try:
            answer = await self._proxy.ask(_passed(scope, body["body"]), shard)
        except Moved as error:
            scope["extensions"][REFUSED] = {"error": error}
            await self._app(scope, receive, send)
            return
        if answer is None:
            await self._answer(scope, _again(body, receive), send, shard)
            return
        self._counts.forwarded += 1
        if answer.is_stream:
            scope["extensions"][TAKE]["stream"] = PassedStream(answer, self._proxy.watch)
        else:
            await self._give(answer, send)

    async def _answer(self, scope: Any, receive: Any, send: Any, shard: int) -> None:
        """Answer a request here, as the owner of what it is for."""
        await self._app(scope, receive, send)
        own(scope, self._proxy, shard, for_daemon=False)

    async def _give(self, answer: Answer, send: Any) -> None:
        """Give a response back, piece by piece; a client that does not read keeps the owner from sending more."""
        with self._proxy.reading(answer):
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            try:
                while data := await self._proxy.piece(answer):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
            except trio.BrokenResourceError:
                return  # the connection is closed, which shows the client that this is not all
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _passed(scope: Any, body: bytes) -> Passed:
    query = scope["query_string"]
    target = scope["raw_path"] + (b"?" + query if query else b"")
    arrived = scope["extensions"][ARRIVED]["time"]
    return Passed(scope["method"], target, scope["headers"], body, scope.get("client"), scope["scheme"], arrived)


def _again(body: object, receive: Any) -> Any:
    """Return a function that receives the body, which has been received before, and then what follows it."""
    events = [body]

    async def receive_again() -> Any:
        return events.pop() if events else await receive()

    return receive_again


def own(scope: Any, proxy: Proxy, shard: int, *, for_daemon: bool) -> None:
    """Have a stream that the application has begun end with this daemon's ownership."""
    taken = scope["extensions"].get(TAKE)
    if taken and "stream" in taken:
        owner = proxy.directory.me
        taken["stream"] = OwnedStream(taken["stream"], proxy.watch, shard, owner, for_daemon=for_daemon)


class EntryShortcut:
    """The shortcut for plain requests of clients of a cluster's daemon."""

    def __init__(self, shortcut: Shortcut, proxy: Proxy, counts: HttpCounts) -> None:
        self._shortcut = shortcut
        self._proxy = proxy
        self._counts = counts

    def find(self, data: bytes) -> Plain | None:
        """Return the head at the beginning of some bytes; None where the shortcut does not serve the request."""
        return self._shortcut.find(data)

    async def answer(self, request: Plain, body: bytes, client: tuple[str, int] | None) -> bytes:
        """Return the response to a request that :meth:`find` has returned, and whose body is whole."""
        shard = self._proxy.shard(request.path)
        assert shard is not None
        self._counts.requests += 1
        if self._proxy.is_mine(shard):
            return await self._shortcut.answer(request, body, client)
        headers = request.headers.items()
        # These routes are the same over http and https.
        passed = Passed(request.method, request.path.encode(), headers, body, client, "http", loop_time.arrival())
        try:
            answer = await self._proxy.ask_plain(passed, shard)
        except Moved as error:
            return self._shortcut.refusal(error, request)
        if answer is None:
            return await self._shortcut.answer(request, body, client, passed.arrived)
        self._counts.forwarded += 1
        return answer
