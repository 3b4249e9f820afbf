"""The daemon that owns what a request is for: it answers requests that other daemons pass on."""

from __future__ import annotations

from typing import Any

from hypercorn.typing import ASGIFramework

from gmd import loop_time
from gmd.http.errors import encoded
from gmd.http.intake import ARRIVED, REFUSED
from gmd.http.plain import Plain, response
from gmd.http.shortcut import Shortcut

from .entry import own
from .origin import HEADER, origin_of, taken_from
from .proxy import MISDIRECTED, Proxy

_NO_ORIGIN = "gmd-origin: another daemon has to say where the request comes from"


class OwnerApp:
    """The application that other daemons reach. What they say about the client is believed."""

    def __init__(self, app: ASGIFramework, proxy: Proxy) -> None:
        self._app = app
        self._proxy = proxy

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or send it back."""
        origin, scope["headers"] = taken_from(scope["headers"])
        if origin is None:
            await _send(send, 400, encoded(400, _NO_ORIGIN))
            return
        scope["client"], scope["scheme"] = origin.client, origin.scheme
        if REFUSED in scope["extensions"]:
            await self._app(scope, receive, send)
            return
        scope["extensions"][ARRIVED]["time"] -= origin.waited
        shard = self._proxy.shard(scope["path"])
        if shard is not None and not await self._proxy.becomes_mine(shard):
            await _send(send, MISDIRECTED, b"")
            return
        await self._app(scope, receive, send)
        if shard is not None:
            own(scope, self._proxy, shard, for_daemon=True)


class OwnerShortcut:
    """The shortcut for plain requests of other daemons' clients."""

    def __init__(self, shortcut: Shortcut, proxy: Proxy) -> None:
        self._shortcut = shortcut
        self._proxy = proxy

    def find(self, data: bytes) -> Plain | None:
        """Return the head at the beginning of some bytes; None where the shortcut does not serve the request."""
        return self._shortcut.find(data)

    async def answer(self, request: Plain, body: bytes, _client: tuple[str, int] | None) -> bytes:
        """Return the response to a request that :meth:`find` has returned, and whose body is whole."""
        arrived = loop_time.arrival()
        origin = origin_of(request.headers.get(HEADER))
        if origin is None:
            return response(400, encoded(400, _NO_ORIGIN))
        shard = self._proxy.shard(request.path)
        assert shard is not None
        if not self._proxy.is_mine(shard) and not await self._proxy.becomes_mine(shard):
            return response(MISDIRECTED, b"")
        return await self._shortcut.answer(request, body, origin.client, arrived - origin.waited)


async def _send(send: Any, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
