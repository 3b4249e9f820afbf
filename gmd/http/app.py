"""The application: every route there is, and what becomes of errors."""

from __future__ import annotations

from typing import Any

from litestar import Litestar, Request, Response
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR

from gmd.logger import get_logger
from gmd.version import VERSION

from .backend import Backend
from .exporter import make_registry
from .routes import health, metrics

logger = get_logger(__name__)

#: Whatever is served; a new route is a handler in a module of :mod:`gmd.http.routes`, and its name here.
ROUTES = (health.healthz, metrics.metrics)


def make_app(backend: Backend) -> Litestar:
    """The application for one daemon. A handler gets at the daemon by a parameter ``backend: FromDaemon``."""
    registry = make_registry(backend)
    return Litestar(
        ROUTES,
        dependencies={
            "backend": Provide(lambda: backend, sync_to_thread=False),
            "registry": Provide(lambda: registry, sync_to_thread=False),
        },
        exception_handlers={HTTP_500_INTERNAL_SERVER_ERROR: _failed},
        openapi_config=OpenAPIConfig(
            title="gmd", version=VERSION, path="/schema", render_plugins=[JsonRenderPlugin(path="/")]
        ),
        logging_config=None,  # the daemon's own log is configured by whoever runs it
        debug=False,  # said, or an environment variable may turn it on: errors would then show everybody our inside
        pdb_on_exception=False,
    )


def _failed(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, str]]:
    """A fault of ours: the daemon's log has it, with the route and nothing the client wrote, which may be a key."""
    logger.error("http request failed", method=request.method, route=request.scope["path_template"], exc_info=error)
    message = "the server failed on this request; its log says why"
    return Response({"error": message, "code": "internal"}, status_code=HTTP_500_INTERNAL_SERVER_ERROR)
