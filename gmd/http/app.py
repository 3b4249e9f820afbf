"""The litestar application: all routes, and the handlers of errors."""

from __future__ import annotations

from typing import Any

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR
from litestar.types import ControllerRouterHandler

from gm_protocol.errors import GmError
from gmd.in_process import Refused
from gmd.version import VERSION

from .backend import Backend, Vitals
from .bodies import JsonRequest
from .errors import failed, refused
from .exporter import make_registry
from .guests import guest_of, registered
from .numbers import digits_alone
from .refusals import Unusual, refusal
from .routes import games, health, invitations, leaderboard, metrics, turns, users, version

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
        Router("/games/{game_id:int}", route_handlers=GAME_ROUTES, tags=["games"]),
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
    dependencies={"guest": Provide(guest_of, sync_to_thread=False)},
)

#: Routes that the health port serves too.
HEALTH_ROUTES = (health.healthz, metrics.metrics)
#: All routes. To add one, write a handler in a module of :mod:`gmd.http.routes` and name it here.
ROUTES = (*HEALTH_ROUTES, API)


def make_app(backend: Backend) -> Litestar:
    """Return the application for one daemon. A handler reaches the daemon by a parameter ``backend: FromDaemon``."""
    settings, routes = _settings(backend), list[ControllerRouterHandler](ROUTES)
    if backend.site is not None:
        from .pages.error_pages import refused_anywhere  # these import jinja2
        from .pages.rendering import template_config
        from .pages.routes import PAGE_ROUTES

        routes.append(PAGE_ROUTES)
        settings["exception_handlers"][HTTPException] = refused_anywhere
        settings["template_config"] = template_config(backend.site)
    return Litestar(
        routes,
        **settings,
        middleware=[digits_alone],
        openapi_config=OpenAPIConfig(
            title="gmd",
            version=VERSION,
            path="/schema",
            render_plugins=[JsonRenderPlugin(path="/")],
            components=Components(
                security_schemes={
                    BASIC: SecurityScheme(
                        "http", scheme="basic", description="A registered player's name, and its password or its key."
                    )
                }
            ),
        ),
    )


def make_health_app(vitals: Vitals) -> Litestar:
    """Return the application of the health port."""
    return Litestar(HEALTH_ROUTES, **_settings(vitals), openapi_config=None)


def _settings(vitals: Vitals) -> dict[str, Any]:
    """Return the settings that both applications share."""
    registry = make_registry(vitals)
    return {
        "dependencies": {
            "backend": Provide(lambda: vitals, sync_to_thread=False),
            "registry": Provide(lambda: registry, sync_to_thread=False),
        },
        "exception_handlers": {
            GmError: refusal,
            Refused: refusal,
            Unusual: refusal,
            HTTPException: refused,
            HTTP_500_INTERNAL_SERVER_ERROR: failed,
        },
        "request_class": JsonRequest,
        "state": State({"backend": vitals}),
        "logging_config": None,  # the daemon's log is configured elsewhere
        # Set explicitly: otherwise an environment variable could turn it on, and errors would then show our internals.
        "debug": False,
        "pdb_on_exception": False,
    }
