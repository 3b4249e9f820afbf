"""Intake of requests: each is read whole before the application sees it, within the game port's limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from hypercorn.config import Config
from hypercorn.typing import AppWrapper, ASGIFramework, ASGIReceiveEvent, ASGISendEvent, HTTPScope, WebsocketScope

from gmd.http.errors import encoded
from gmd.http.streaming import TAKE, Stream
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.net.loop_time import PatientScope

logger = get_logger(__name__)

#: The ASGI extension with the time, on the loop's clock, when a request's last byte was read: game clocks use it.
ARRIVED = "gmd.arrived"

#: The ASGI extension with the reason why a request is refused before it has arrived: the application answers a browser,
#: in place of running a handler.
REFUSED = "gmd.refused"

#: Parts of a body after which other connections get their turns: a part takes some tens of microseconds.
PARTS = 32
#: Parts of a chunked body from which its chunks must hold so many bytes on average: one-byte chunks would cost the
#: server a thousand times what they cost the client.
MANY_CHUNKS, LEAST_CHUNK = 64, 64

#: Takes an application's events; None says that it has ended.
Send = Callable[[ASGISendEvent | None], Awaitable[None]]


@dataclass(slots=True)
class _Arriving:
    """A request whose head has been read, and the part of its body that has arrived.

    :ivar parts: how many parts its body came in: chunks, or pieces of them.
    """

    scope: HTTPScope | WebsocketScope
    send: Send
    body: bytearray = field(default_factory=bytearray)
    parts: int = 0

    @property
    def is_crumbled(self) -> bool:
        """Whether its body comes in very many, very small chunks."""
        if self.parts < MANY_CHUNKS or len(self.body) >= LEAST_CHUNK * self.parts:
            return False
        return any(name == b"transfer-encoding" for name, _ in self.scope["headers"])


class Intake:
    """A connection's requests, gathered one by one; the task that reads also runs the application on each.

    It replaces hypercorn's task group, which has a task for each request, a queue between the two, and four switches
    from one to the other. Nothing more is read from the network while a request is answered.
    """

    def __init__(
        self,
        app: ASGIFramework,
        max_body: int,
        seconds: float,
        reading: PatientScope,
        gone: Callable[[], Awaitable[None]],
        begin: Callable[[], None],
        give_way: Callable[[], Awaitable[None]],
        run_stream: Callable[[Stream, bool], Awaitable[None]],
    ) -> None:
        """:param max_body: the size of the largest body, in bytes.
        :param seconds: how long a body may take to arrive.
        :param reading: the scope cancelled when it has not; the reader then calls :meth:`give_up`.
        :param gone: returns when the client has closed the connection.
        :param begin: called when a request is whole, before it is answered.
        :param give_way: gives other connections their turns; called between the parts of a body.
        :param run_stream: sends a stream in place of a response (only its head if the second argument is True), and
            ends the connection.
        """
        self._app = app
        self._max_body = max_body
        self._seconds = seconds
        self._reading = reading
        self._gone = gone
        self._begin = begin
        self._give_way = give_way
        self._run_stream = run_stream
        self._arriving: _Arriving | None = None

    async def spawn_app(
        self, app: AppWrapper, config: Config, scope: HTTPScope | WebsocketScope, send: Send
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Begin a request; return the function that takes its events."""
        self._arriving = _Arriving(scope, send)
        self._reading.deadline = loop_time.now() + self._seconds
        return self._take

    def spawn(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Raise: hypercorn runs background tasks only for accepted websockets, and none is accepted here."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop the request that has arrived in part, if any; another part of the server answers it."""
        if self._arriving is not None:
            self._arriving.body.clear()
            self._arriving = None

    async def give_up(self) -> None:
        """Refuse the request whose body has not arrived in time, if there is one."""
        if self._arriving is not None:
            await self._refuse(self._arriving, 408, f"the whole body did not arrive within {self._seconds:g} seconds")

    async def _take(self, event: ASGIReceiveEvent) -> None:
        request = self._arriving
        if request is None:
            return  # the request is answered already, and this follows it
        if event["type"] == "websocket.connect":
            await self._refuse_websocket(request)
        elif event["type"] != "http.request":
            self._arriving = None  # the client has closed
        elif len(request.body) + len(event["body"]) > self._max_body:
            await self._refuse(request, 413, f"the body is larger than {self._max_body} bytes")
        elif not event["more_body"]:
            request.body += event["body"]
            await self._answer(request)
        else:
            await self._take_part(request, event["body"])

    async def _take_part(self, request: _Arriving, part: bytes) -> None:
        request.body += part
        request.parts += 1
        if request.is_crumbled:
            await self._refuse(request, 400, f"send the body in chunks of at least {LEAST_CHUNK} bytes, or in one")
        elif request.parts % PARTS == 0:
            await self._give_way()

    async def _answer(self, request: _Arriving) -> None:
        self._end_arrival()
        self._begin()
        scope: Any = request.scope
        taken: dict[str, Stream] = {}
        scope["extensions"] |= {ARRIVED: {"time": loop_time.arrival()}, TAKE: taken}
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        if is_head:  # hypercorn then leaves out the body
            scope = {**scope, "method": "GET"}
        receive = self._receiver(bytes(request.body))
        request.body.clear()
        try:
            await self._app(scope, receive, request.send)
        except Exception:
            logger.exception("http request failed")
        if "stream" in taken:
            scope.clear()  # a stream lasts, and litestar's objects hang on the scope
            await self._run_stream(taken["stream"], is_head)
        else:
            await request.send(None)

    def _receiver(self, body: bytes) -> Callable[[], Awaitable[ASGIReceiveEvent]]:
        """Return an ASGI receive function that gives the body, and then waits for the client to close."""
        events: list[ASGIReceiveEvent] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> ASGIReceiveEvent:
            if events:
                return events.pop()
            await self._gone()
            return {"type": "http.disconnect"}

        return receive

    async def _refuse(self, request: _Arriving, status: int, reason: str) -> None:
        """Answer without the application, and close; for a browser the application makes the answer."""
        self._end_arrival()
        if any(name == b"accept" and b"text/html" in value for name, value in request.scope["headers"]):
            await self._refuse_browser(request, status, reason)
            return
        body = encoded(status, reason)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        await request.send({"type": "http.response.start", "status": status, "headers": headers})
        await request.send({"type": "http.response.body", "body": body, "more_body": False})

    async def _refuse_browser(self, request: _Arriving, status: int, reason: str) -> None:
        refusal = {"status": status, "reason": reason}
        request.scope["extensions"] |= {ARRIVED: {"time": loop_time.arrival()}, REFUSED: refusal}
        try:
            await self._app(request.scope, self._receiver(b""), request.send)
        except Exception:
            logger.exception("http request failed")
            await request.send(None)  # hypercorn then says that the server has failed

    async def _refuse_websocket(self, request: _Arriving) -> None:
        self._end_arrival()
        await request.send({"type": "websocket.close", "code": 1000, "reason": None})  # this refuses the handshake
        await request.send(None)

    def _end_arrival(self) -> None:
        self._arriving = None
        self._reading.deadline = inf
