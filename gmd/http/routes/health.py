"""``/healthz``: whether this daemon can take requests."""

from __future__ import annotations

from typing import Literal

from litestar import Response, get
from litestar.openapi import ResponseSpec
from litestar.status_codes import HTTP_200_OK, HTTP_503_SERVICE_UNAVAILABLE
from msgspec import Struct

from gmd.http.backend import FromVitals, Vitals


class Health(Struct, frozen=True):
    """``reason`` is for people: null while the status is "ok"."""

    status: Literal["ok", "log_failing", "stopping"]
    reason: str | None = None


@get(
    "/healthz",
    summary="Whether the daemon takes requests and can store their effects",
    responses={
        HTTP_503_SERVICE_UNAVAILABLE: ResponseSpec(
            Health, description="Send it no work; reason says why.", generate_examples=False
        )
    },
)
async def healthz(backend: FromVitals) -> Response[Health]:
    """Return 200 while games can be played; 503 while the event log cannot be written or the daemon is stopping."""
    health = health_of(backend)
    status = HTTP_200_OK if health.status == "ok" else HTTP_503_SERVICE_UNAVAILABLE
    return Response(health, status_code=status, headers={"cache-control": "no-store"})


def health_of(backend: Vitals) -> Health:
    """Return the daemon's health."""
    if backend.game_port.stopping:
        return Health("stopping", "the daemon is finishing the requests in progress and takes no new ones")
    lease = backend.services.lease
    if lease is not None and not lease.is_valid():
        return Health("log_failing", "the lease on the database has run out: nothing is answered until it is renewed")
    if (failure := backend.services.arbiter.log.failure) is not None:
        return Health("log_failing", f"the event log cannot be written: {failure}")
    return Health("ok")
