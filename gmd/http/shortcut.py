"""A shortcut to the routes of a game: from a request's bytes to litestar's handler, and from its result to bytes.

For every request litestar looks up the handler, the guards and the parameters again, in a hundred calls. For these
routes, which a client requests nine times a turn, the shortcut looks them up once, when the daemon starts. It uses the
application's own handlers, parameters and error handlers. It leaves a route with any other parameters to litestar.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter
from litestar.routes import HTTPRoute
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR
from litestar.typing import FieldDefinition

from gmd.http.api_clients import ApiClient, admit, registered
from gmd.http.app import App
from gmd.http.backend import Backend
from gmd.http.bodies import read_body
from gmd.http.plain import Plain, read_plain, response
from gmd.net import loop_time

#: The path of the routes that the shortcut may serve.
_GAME = "/api/games/{game_id}/"
#: The parameters that a handler may have, apart from optional query parameters: a plain request has no query.
_TAKES = frozenset(["game_id", "client", "backend", "data"])


@dataclass(frozen=True, slots=True)
class _Route:
    """A handler, and how it is called."""

    handler: Callable[..., Awaitable[Any]]
    takes: frozenset[str]
    #: The type that the body is decoded as.
    body: Any
    status: int
    template: str


class Shortcut:
    """Answers plain requests for the games of an application."""

    def __init__(self, app: App, backend: Backend) -> None:
        self._backend = backend
        self._max_body = backend.services.limits.max_message
        self._errors: Mapping[Any, Any] = app.exception_handlers
        self._routes: dict[tuple[str, str], _Route] = {
            (method, route.path_format.removeprefix(_GAME)): found
            for route in app.routes
            if isinstance(route, HTTPRoute) and route.path_format.startswith(_GAME)
            for method, (handler, _) in route.route_handler_map.items()
            if (found := _route(handler, route.path_format)) is not None
        }

    def find(self, data: bytes) -> Plain | None:
        """Return the head at the beginning of some bytes; None where the shortcut does not serve the request."""
        found = read_plain(data)
        if found is None or (found.method, found.what) not in self._routes:
            return None
        return found if found.end - found.start <= self._max_body else None

    async def answer(
        self, request: Plain, body: bytes, remote: tuple[str, int] | None, arrived: float | None = None
    ) -> bytes:
        """Return the response to a request that :meth:`find` has returned, and whose body is whole.

        :param remote: the other end of the connection.
        :param arrived: when the body was whole, in the loop's time; None for now.
        """
        route = self._routes[request.method, request.what]
        try:
            return response(route.status, msgspec.json.encode(await self._ask(route, request, body, remote, arrived)))
        except Exception as error:
            return self.refusal(error, request)

    async def _ask(
        self,
        route: _Route,
        request: Plain,
        body: bytes,
        remote: tuple[str, int] | None,
        arrived: float | None,
    ) -> Any:
        arrived, headers = loop_time.arrival() if arrived is None else arrived, request.headers
        forwarded = headers.get(b"x-forwarded-for")
        peer = self._backend.proxies.peer(remote, [] if forwarded is None else [forwarded.decode()])
        authorization = headers.get(b"authorization")
        admission = await admit(self._backend, None if authorization is None else authorization.decode(), peer)
        client = ApiClient(
            self._backend.in_process,
            peer,
            arrived,
            admission,
            self._backend.claims,
            self._backend.services.authenticator,
        )
        given: dict[str, Any] = {"game_id": request.game_id, "client": client}
        if "backend" in route.takes:
            given["backend"] = self._backend
        if "data" in route.takes:
            given["data"] = read_body(body, route.body)
        return await route.handler(**given)

    def refusal(self, error: Exception, request: Plain) -> bytes:
        """Return the application's response to an error."""
        route = self._routes[request.method, request.what]
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
    """Return a handler and how to call it; None where it needs more than the shortcut has."""
    parameters = handler.parsed_fn_signature.parameters
    takes = frozenset(name for name, parameter in parameters.items() if not _is_optional_query(parameter))
    if not takes <= _TAKES or tuple(handler.resolve_guards()) != (registered,):
        return None
    field = handler.parsed_data_field
    return _Route(handler.fn, takes, Any if field is None else field.annotation, handler.status_code, template)
