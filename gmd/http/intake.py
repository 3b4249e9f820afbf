"""Takes requests in whole before the application sees them, within the limits that the game port has too."""

from __future__ import annotations

import trio
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGIReceiveEvent, ASGISendCallable, Scope

from .errors import encoded

#: The ASGI extension that says when a request's last byte was read, in trio's time: clocks are charged to then.
ARRIVED = "gmd.arrived"


class _Refused(Exception):
    """A request that the application is not to see."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Intake:
    """An ASGI application around another, which gets each request once its whole body is here."""

    def __init__(self, app: ASGIFramework, max_body: int, seconds: float) -> None:
        """:param max_body: largest body, in bytes.
        :param seconds: how long a body may take to arrive.
        """
        self._app = app
        self._max_body = max_body
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1000, "reason": None})  # which refuses the handshake
            return
        try:
            body = await self._whole_body(receive)
        except _Refused as refused:
            await _refuse(refused, receive, send)
            return
        if body is not None:
            scope["extensions"][ARRIVED] = {"time": trio.current_time()}
            if scope["method"] == "HEAD":  # hypercorn, which knows better, leaves the body out
                scope = {**scope, "method": "GET"}
            await self._app(scope, _first(body, receive), send)

    async def _whole_body(self, receive: ASGIReceiveCallable) -> bytes | None:
        """A request's body; None where the client has gone."""
        body = bytearray()
        with trio.move_on_after(self._seconds):
            while True:
                event = await receive()
                if event["type"] != "http.request":
                    return None
                body += event["body"]
                if len(body) > self._max_body:
                    raise _Refused(413, f"the body is larger than {self._max_body} bytes")
                if not event["more_body"]:
                    return bytes(body)
        raise _Refused(408, f"the whole body did not arrive within {self._seconds:g} seconds")


def _first(body: bytes, receive: ASGIReceiveCallable) -> ASGIReceiveCallable:
    """What gives the body, and then what there is to receive."""
    events: list[ASGIReceiveEvent] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_next() -> ASGIReceiveEvent:
        return events.pop() if events else await receive()

    return receive_next


async def _refuse(refused: _Refused, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Answer without the application, while what still comes is thrown away: hypercorn waits until it is taken."""
    body = encoded(refused.status, str(refused))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_discard, receive)
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})
        nursery.cancel_scope.cancel()


async def _discard(receive: ASGIReceiveCallable) -> None:
    while True:
        await receive()
