"""The litestar applications: all routes, and the handlers of errors.

Litestar examines every handler when it makes an application, which takes 45 ms. So the daemons of a process share
one, and each request's scope names its daemon.

It takes whatever Python's ``int`` takes for a number in a path: also ``1_0``, ``+1``, `` 1`` and the digits of other
scripts. A proxy or a log might not recognise these as names of the same game, so only ASCII digits are served.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from litestar import Litestar, Router
from litestar.di import Provide
from litestar.exceptions import HTTPException, NotFoundException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.routes import BaseRoute
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR
from litestar.types import ASGIApp, ControllerRouterHandler, Receive, Scope, Send
from prometheus_client import CollectorRegistry

from gm_protocol.errors import GmError
from gmd.handlers.in_process import Refused
from gmd.http.api_clients import api_client_of, registered
from gmd.http.asgi import REFUSED
from gmd.http.backend import Backend, ServedDaemon, Vitals, daemon_of, name_daemon
from gmd.http.bodies import JsonRequest
from gmd.http.errors import Unusual, failed, refusal, refused, respond_to_error
from gmd.http.exporter import make_registry
from gmd.http.plain import PLAIN, PlainRoutes
from gmd.http.requests import Refusal
from gmd.http.routes import games, health, invitations, leaderboard, turns, users, version
from gmd.version import VERSION

_DIGITS = re.compile(r"[0-9]+")


def digits_alone(app: ASGIApp) -> ASGIApp:
    """Refuse requests whose path has a number in any other notation.

    :raises NotFoundException: the path has one.
    """

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        parameters = scope.get("path_params")
        if parameters and not _has_digits_alone(scope["path"], scope["path_template"], parameters):
            raise NotFoundException
        await app(scope, receive, send)

    return checked


def _has_digits_alone(path: str, template: str, parameters: dict[str, Any]) -> bool:
    """Return whether all numbers of a path are in digits; parameters of other types, such as files, may be anything."""
    given, expected = ([part for part in each.split("/") if part] for each in (path, template))
    named = zip(given, expected, strict=False)  # a file, the last parameter, may have several parts
    numbers = (part for part, name in named if name.startswith("{") and isinstance(parameters[name[1:-1]], int))
    return all(map(_DIGITS.fullmatch, numbers))


#: The name of Basic authorization in the OpenAPI document.
BASIC = "basic"

#: A player's own account and settings: what ``rc-connect`` sends, and routes of ours.
USER_ROUTES = (users.active, users.ping, users.max_games, users.ranked, users.bot_version, users.next_version)
INVITATION_ROUTES = (invitations.listed, invitations.invite, invitations.accept, invitations.finish)

#: A player's questions and actions in a game: what ``reconchess.RemoteGame`` sends.
GAME_ROUTES = (
    games.color,
    games.starting_board,
    games.opponent_name,
    games.sense_actions,
    games.move_actions,
    games.seconds_left,
    games.opponent_move_results,
    games.is_over,
    games.is_my_turn,
    games.game_status,
    games.winner_color,
    games.why_over,
    games.game_history,
    turns.ready,
    turns.sense,
    turns.move,
    turns.end_turn,
    turns.resign,
    turns.error_resign,
)

#: Routes that only registered players may use.
PLAYERS_ROUTES = Router(
    "/",
    route_handlers=[
        Router("/users", route_handlers=USER_ROUTES, tags=["users"]),
        Router("/invitations", route_handlers=INVITATION_ROUTES, tags=["invitations"]),
        Router("/games/{game_id:int}", route_handlers=GAME_ROUTES, tags=["games"], opt={PLAIN: True}),
    ],
    guards=[registered],
    security=[{BASIC: []}],
)

#: The API of reconchess's server.
API = Router(
    "/api",
    route_handlers=[
        version.version,
        leaderboard.leaderboard,
        Router("/users", route_handlers=[users.register], tags=["users"]),
        PLAYERS_ROUTES,
    ],
    dependencies={"client": Provide(api_client_of, sync_to_thread=False)},
)

#: Routes that the health port serves too.
HEALTH_ROUTES = (health.healthz, health.metrics)
#: All routes. To add one, write a handler in a module of :mod:`gmd.http.routes` and name it here.
ROUTES = (*HEALTH_ROUTES, API)


class App:
    """The application of one daemon's port.

    :ivar backend: the daemon.
    """

    def __init__(self, litestar: Litestar, backend: Vitals) -> None:
        self.backend = backend
        self._litestar = litestar
        self._plain = PlainRoutes(litestar)
        self._daemon = ServedDaemon(backend, make_registry(backend))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        name_daemon(scope, self._daemon)
        refusal: Refusal | None = cast(dict[str, Any], scope).get(REFUSED)
        if refusal is None:
            shows_all = self.backend.services.spectators.unasked
            refusal = self.backend.origins.refusal(scope, shows_all=shows_all)
        if refusal is not None:
            error = HTTPException(status_code=refusal.status, detail=refusal.sentence)
            await respond_to_error(self._litestar, error, scope, receive, send)
        elif not await self._plain.answer(scope, receive, send):
            await self._litestar(scope, receive, send)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """All routes."""
        return self._litestar.routes


def make_app(backend: Backend) -> App:
    """Return the application for one daemon. A handler reaches the daemon by a parameter ``backend: FromDaemon``."""
    if backend.site is not None:
        from gmd.http.pages.rendering import templates  # this imports jinja2
        from gmd.http.pages.site import site_of

        site_of(backend).templates = templates()
    return App(litestar_app(backend.site is not None), backend)


@cache
def litestar_app(pages: bool) -> Litestar:
    """Return the routes of all daemons of this process, with or without pages."""
    settings, routes = _settings(), list[ControllerRouterHandler](ROUTES)
    if pages:
        from gmd.http.pages.error_pages import refused_anywhere  # these import jinja2
        from gmd.http.pages.rendering import template_config
        from gmd.http.pages.routes import PAGE_ROUTES

        routes.append(PAGE_ROUTES)
        settings["exception_handlers"][HTTPException] = refused_anywhere
        settings["template_config"] = template_config()
    return Litestar(routes, **settings, middleware=[digits_alone], openapi_config=_openapi_config())


def _openapi_config() -> OpenAPIConfig:
    scheme = SecurityScheme(
        "http", scheme="basic", description="A registered player's name, and its password or its key."
    )
    return OpenAPIConfig(
        title="gmd",
        version=VERSION,
        path="/schema",
        render_plugins=[JsonRenderPlugin(path="/")],
        components=Components(security_schemes={BASIC: scheme}),
    )


def make_health_app(vitals: Vitals) -> App:
    """Return the application of the health port."""
    return App(_litestar_health_app(), vitals)


@cache
def _litestar_health_app() -> Litestar:
    return Litestar(HEALTH_ROUTES, **_settings(), openapi_config=None)


def _settings() -> dict[str, Any]:
    """Return the settings that both applications share."""
    return {
        "dependencies": {
            "backend": Provide(_backend, sync_to_thread=False),
            "registry": Provide(_registry, sync_to_thread=False),
        },
        "exception_handlers": {
            GmError: refusal,
            Refused: refusal,
            Unusual: refusal,
            HTTPException: refused,
            HTTP_500_INTERNAL_SERVER_ERROR: failed,
        },
        "request_class": JsonRequest,
        "logging_config": None,  # the daemon's log is configured elsewhere
        # Set explicitly: otherwise an environment variable could turn it on, and errors would then show our internals.
        "debug": False,
        "pdb_on_exception": False,
    }


def _backend(scope: Scope) -> Any:
    return daemon_of(scope).backend


def _registry(scope: Scope) -> CollectorRegistry:
    return daemon_of(scope).registry
