"""The application: every route there is, and what becomes of errors."""

from __future__ import annotations

from litestar import Litestar
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR

from gmd.version import VERSION

from .backend import Backend
from .errors import failed, refused
from .exporter import make_registry
from .routes import health, metrics

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
        exception_handlers={HTTPException: refused, HTTP_500_INTERNAL_SERVER_ERROR: failed},
        openapi_config=OpenAPIConfig(
            title="gmd", version=VERSION, path="/schema", render_plugins=[JsonRenderPlugin(path="/")]
        ),
        logging_config=None,  # the daemon's own log is configured by whoever runs it
        debug=False,  # said, or an environment variable may turn it on: errors would then show everybody our inside
        pdb_on_exception=False,
    )
