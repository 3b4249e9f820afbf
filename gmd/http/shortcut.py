"""The short way to the routes of a game: from a request's bytes to litestar's handler, and from its answer to bytes.

litestar finds the handler, who is let in, and what the handler takes, for each request anew, in a hundred calls. For
these routes, which a client asks nine times a turn, that is found out once, when the daemon starts. The handlers, what
they take, and what becomes of errors are the application's own; a route that asks for anything else is left to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import Litestar, Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter
from litestar.routes import HTTPRoute
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR
from litestar.typing import FieldDefinition

from gmd import loop_time

from .backend import Backend
from .bodies import read_body
from .guests import Guest, admit, registered
from .plain import Plain, read_plain, response

#: Whose path a route has that may be reached this way.
_GAME = "/api/games/{game_id}/"
#: What a handler may take, beside query parameters that may be left out: a plain request has none.
_TAKES = frozenset(["game_id", "guest", "backend", "data"])


@dataclass(frozen=True, slots=True)
class _Route:
    """A handler, and how it is called."""

    handler: Callable[..., Awaitable[Any]]
    takes: frozenset[str]
    #: What its body is read as.
    body: Any
    status: int
    template: str


class Shortcut:
    """Answers plain requests for the games of an application."""

    def __init__(self, app: Litestar, backend: Backend) -> None:
        self._backend = backend
        self._max_body = backend.services.limits.max_message
        self._errors: dict[Any, Any] = app.exception_handlers
        self._routes: dict[tuple[str, str], _Route] = {
            (method, route.path_format.removeprefix(_GAME)): found
            for route in app.routes
            if isinstance(route, HTTPRoute) and route.path_format.startswith(_GAME)
            for method, (handler, _) in route.route_handler_map.items()
            if (found := _route(handler, route.path_format)) is not None
        }

    def find(self, data: bytes) -> Plain | None:
        """The head of the request that some bytes begin with; None where that is not to be answered here."""
        found = read_plain(data)
        if found is None or (found.method, found.what) not in self._routes:
            return None
        return found if found.end - found.start <= self._max_body else None

    async def answer(self, request: Plain, body: bytes, client: tuple[str, int] | None) -> bytes:
        """The response to a request that has been found here, and is whole now.

        :param client: the other end of the connection.
        """
        route = self._routes[request.method, request.what]
        try:
            return response(route.status, msgspec.json.encode(await self._ask(route, request, body, client)))
        except Exception as error:
            return self._refusal(error, request, route)

    async def _ask(self, route: _Route, request: Plain, body: bytes, client: tuple[str, int] | None) -> Any:
        arrived, headers = loop_time.arrival(), request.headers
        forwarded = headers.get(b"x-forwarded-for")
        peer = self._backend.proxies.peer(client, [] if forwarded is None else [forwarded.decode()])
        authorization = headers.get(b"authorization")
        account = await admit(self._backend, None if authorization is None else authorization.decode(), peer)
        guest = Guest(
            self._backend.in_process, peer, arrived, account, self._backend.claims, self._backend.services.authenticator
        )
        given: dict[str, Any] = {"game_id": request.game_id, "guest": guest}
        if "backend" in route.takes:
            given["backend"] = self._backend
        if "data" in route.takes:
            given["data"] = read_body(body, route.body)
        return await route.handler(**given)

    def _refusal(self, error: Exception, request: Plain, route: _Route) -> bytes:
        """What the application answers to an error."""
        kind = next((each for each in type(error).__mro__ if each in self._errors), HTTP_500_INTERNAL_SERVER_ERROR)
        scope: Any = {
            "type": "http",
            "method": request.method,
            "path": request.path,
            "path_template": route.template,
            "headers": [],
        }
        refused: Response[Any] = self._errors[kind](Request[Any, Any, Any](scope), error)
        status = refused.status_code or HTTP_500_INTERNAL_SERVER_ERROR
        return response(status, msgspec.json.encode(refused.content), refused.headers.items())


def _is_optional_query(parameter: FieldDefinition) -> bool:
    return isinstance(parameter.kwarg_definition, QueryParameter) and parameter.has_default


def _route(handler: HTTPRouteHandler, template: str) -> _Route | None:
    """How a handler is called; None where it asks for more than there is here."""
    parameters = handler.parsed_fn_signature.parameters
    takes = frozenset(name for name, parameter in parameters.items() if not _is_optional_query(parameter))
    if not takes <= _TAKES or tuple(handler.resolve_guards()) != (registered,):
        return None
    field = handler.parsed_data_field
    return _Route(handler.fn, takes, Any if field is None else field.annotation, handler.status_code, template)
