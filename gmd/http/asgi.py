"""Requests and responses as ASGI has them, between a connection and its application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import unquote

import trio

from gmd.http.compression import Header, compressed, is_anybodys, may_compress, takes_gzip
from gmd.http.errors import INTERNAL, error_response
from gmd.http.requests import Head
from gmd.http.responses import RawResponse
from gmd.http.streaming import STREAM, Stream
from gmd.logger import get_logger
from gmd.net import loop_time

logger = get_logger(__name__)

#: The key in a request's scope of the time, on the loop's clock, when its last byte was read: game clocks use it.
ARRIVED = "gmd.arrived"
#: The key of the :class:`gmd.http.requests.Refusal` of a request that could not be read: the application answers it, in
#: place of running a handler.
REFUSED = "gmd.refused"

Scope = dict[str, Any]
Event = dict[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

Address = tuple[str, int]


def scope_of(head: Head, client: Address | None, server: Address | None, *, is_tls: bool) -> Scope:
    """Return the scope of a request that has arrived now.

    :param client: the other end of the connection; None where it has no address, and so has ``server``.
    """
    path, _, query = head.target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.1"},
        "http_version": head.version,
        "method": "GET" if head.method == "HEAD" else head.method,  # the body is left out of the response
        "scheme": "https" if is_tls else "http",
        "path": unquote(path.decode()),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": head.headers,
        "client": client,
        "server": server,
        "state": {},
        "extensions": {},
        ARRIVED: loop_time.arrival(),
    }


async def answer(app: Application, scope: Scope, body: bytes) -> RawResponse | Stream:
    """Have an application answer a request; return the response, or what sends one that lasts.

    :param scope: the request's; it is cleared.
    """
    headers = list(scope["headers"])
    exchange = _Exchange(body, gzips=takes_gzip(headers), anybodys=is_anybodys(headers))
    try:
        await app(scope, exchange.receive, exchange.send)
        stream: Stream | None = scope.get(STREAM)
        return exchange.response() if stream is None else stream
    except Exception:
        logger.exception("http request failed")
        return error_response(500, INTERNAL)
    finally:
        scope.clear()  # a stream lasts, and litestar's objects hang on the scope


class _Exchange:
    """The body of a request, and the response as far as the application has given it."""

    def __init__(self, body: bytes, *, gzips: bool, anybodys: bool) -> None:
        self._body: bytes | None = body
        self._gzips = gzips
        self._anybodys = anybodys
        self._start: Event | None = None
        self._parts: list[bytes] = []

    async def receive(self) -> Event:
        """Give the body; then wait without end: nobody reads the connection, to see whether the client closes it."""
        if self._body is None:
            await trio.sleep_forever()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, event: Event) -> None:
        """Take the beginning or a part of the response."""
        if event["type"] == "http.response.start":
            self._start = event
        else:
            self._parts.append(event["body"])

    def response(self) -> RawResponse:
        """Return the response."""
        assert self._start is not None
        status, body = self._start["status"], b"".join(self._parts)
        headers: Sequence[Header] = list(self._start["headers"])
        if may_compress(status, headers, len(body), anybodys=self._anybodys):
            headers, body = compressed(headers, body, gzips=self._gzips)
        return RawResponse(status, headers, body)
