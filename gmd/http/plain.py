"""Plain routes: their handlers are called directly, because reconchess's client requests them nine times a turn.

For every request litestar looks up the handler, the guards and the parameters again, in a hundred calls. A route that
declares itself plain, with ``opt={PLAIN: True}``, has ``game_id`` in its path, the guard ``registered``, optional query
parameters, and of ``client``, ``backend`` and ``data`` those that it needs. Its handler is looked up once, when the
daemon starts. A request with a query, or for another method, is litestar's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import Receive, Send

from gmd.http.api_clients import api_client_of, authenticate
from gmd.http.backend import Backend, daemon_of
from gmd.http.bodies import read_body
from gmd.http.errors import respond_to_error

#: The key of a route's ``opt`` that makes it plain.
PLAIN = "plain"

_PATH = re.compile(r"(/api/games/)([0-9]{1,16})(/[a-z_]+)")


@dataclass(frozen=True, slots=True)
class PlainRoute:
    """A handler, and how it is called.

    :ivar takes: the names of its parameters.
    :ivar body: the type that the body is decoded as.
    """

    handler: HTTPRouteHandler
    takes: frozenset[str]
    body: Any
    template: str

    async def __call__(self, game_id: int, scope: Any, receive: Receive) -> Any:
        """Return the route's reply to a request."""
        backend = daemon_of(scope).backend
        assert isinstance(backend, Backend)
        await authenticate(scope, backend)
        given: dict[str, Any] = {"game_id": game_id, "client": api_client_of(scope, backend)}
        if "backend" in self.takes:
            given["backend"] = backend
        if "data" in self.takes:
            event: Any = await receive()
            given["data"] = read_body(event["body"], self.body)
        return await self.handler.fn(**given)


class PlainRoutes:
    """The plain routes of an application."""

    def __init__(self, app: Litestar) -> None:
        self._app = app
        self._routes = {
            (method, route.path_format): _plain_route(handler, route.path_format)
            for route in app.routes
            if isinstance(route, HTTPRoute)
            for method, (handler, _) in route.route_handler_map.items()
            if PLAIN in handler.opt and method != "OPTIONS"  # litestar's own handlers inherit it
        }

    async def answer(self, scope: Any, receive: Receive, send: Send) -> bool:
        """Answer a request; return False where it is for none of the plain routes."""
        found = None if scope["query_string"] else _PATH.fullmatch(scope["path"])
        if found is None:
            return False
        before, game_id, after = found.groups()
        route = self._routes.get((scope["method"], f"{before}{{game_id}}{after}"))
        if route is None:
            return False
        try:
            body = msgspec.json.encode(await route(int(game_id), scope, receive))
        except Exception as error:
            scope["path_template"] = route.template
            await respond_to_error(self._app, error, scope, receive, send)
        else:
            headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
            await send({"type": "http.response.start", "status": route.handler.status_code, "headers": headers})
            await send({"type": "http.response.body", "body": body, "more_body": False})
        return True


def _plain_route(handler: HTTPRouteHandler, template: str) -> PlainRoute:
    field = handler.parsed_data_field
    takes = frozenset(handler.parsed_fn_signature.parameters)
    return PlainRoute(handler, takes, Any if field is None else field.annotation, template)
