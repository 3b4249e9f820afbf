"""``/healthz``: whether this daemon can take requests. ``/metrics``: its counters and gauges, for Prometheus.

Who shows the daemon's metrics token is an operator. Without a token, whoever asks on the daemon's machine is.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import Any, Literal

from litestar import MediaType, Request, Response, get
from litestar.di import NamedDependency
from litestar.exceptions import NotAuthorizedException
from litestar.openapi import ResponseSpec
from litestar.params import SkipValidation
from litestar.status_codes import HTTP_200_OK, HTTP_401_UNAUTHORIZED, HTTP_503_SERVICE_UNAVAILABLE
from msgspec import Struct
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from gmd.http.backend import FromVitals, Vitals
from gmd.http.errors import HttpError
from gmd.net.addresses import is_loopback


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


def admit(request: Request[Any, Any, Any], token: str | None) -> None:
    """Check that a request may read the metrics.

    :param token: the daemon's ``metrics_token``; None lets clients on the daemon's machine in, and no proxy's.
    :raises NotAuthorizedException: the token is missing or wrong, or there is none and the client is elsewhere.
    """
    if token is None:
        host, _ = request.scope.get("client") or ("", 0)
        if is_loopback(host) and "x-forwarded-for" not in request.headers:
            return
        raise _refused("is for this machine alone without a metrics_token; start the daemon with one, and send")
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    shown = shown.strip() if scheme.lower() == "bearer" else ""
    if not compare_digest(shown.encode(), token.encode()):
        raise _refused("needs the daemon's metrics_token; send")


def _refused(why: str) -> NotAuthorizedException:
    return NotAuthorizedException(
        f"authorization: /metrics {why} Authorization: Bearer TOKEN", headers={"www-authenticate": "Bearer"}
    )


@get(
    "/metrics",
    summary="Counters and gauges for Prometheus",
    media_type=MediaType.TEXT,
    responses={
        HTTP_401_UNAUTHORIZED: ResponseSpec(
            HttpError, description="The token is missing or wrong, or the client elsewhere.", generate_examples=False
        )
    },
)
async def metrics(
    registry: NamedDependency[SkipValidation[CollectorRegistry]], backend: FromVitals, request: Request[Any, Any, Any]
) -> Response[bytes]:
    """Return the metrics as OpenMetrics to clients that accept it, else in Prometheus' older text format.

    Where the daemon has a `metrics_token`, the request must carry it: `Authorization: Bearer TOKEN`. Where it has none,
    only clients on its machine may read them.
    """
    admit(request, backend.metrics_token)
    try:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
    except (TypeError, ValueError):  # the header names no existing version
        encode, content_type = choose_encoder("")
    return Response(encode(registry), headers={"content-type": content_type})
