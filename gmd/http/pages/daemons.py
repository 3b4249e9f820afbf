"""``/operator/daemons``: the daemons that share a database, for operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litestar import Request, get
from litestar.exceptions import ServiceUnavailableException
from litestar.response import Template

from gmd.event_log.interface import LogFailed
from gmd.http.backend import Backend
from gmd.http.operators import admit_to_page

from .rendering import page
from .visit import FromVisit

if TYPE_CHECKING:
    from gmd.cluster_status import ClusterStatus


@get("/operator/daemons", include_in_schema=False)
async def daemons(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return the page of all daemons; it needs the ``metrics_token``, unless only this machine's users reach it."""
    backend = visit.backend
    shown = request.headers.get("authorization", "")
    admit_to_page(shown, backend.metrics_token, "/operator/daemons", is_private=backend.is_private)
    arbiter = backend.services.arbiter
    return page(visit, "daemons.html", found=await _status(backend), live_games=arbiter.live_games)


async def _status(backend: Backend) -> ClusterStatus | None:
    """Return the daemons on the database; None for a daemon that is alone."""
    database = backend.services.arbiter.log.database
    if backend.services.cluster is None or database is None:
        return None
    from gmd.cluster_status import read_status  # imports SQLAlchemy, which a daemon with games in memory does not need

    try:
        return await database.read(read_status)
    except LogFailed:
        raise ServiceUnavailableException("the database cannot be read; the daemon's log says why") from None
