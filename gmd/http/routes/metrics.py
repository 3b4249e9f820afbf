"""``/metrics``: the daemon's counters and gauges, for Prometheus."""

from __future__ import annotations

from typing import Any

from litestar import MediaType, Request, Response, get
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import SkipValidation
from litestar.status_codes import HTTP_401_UNAUTHORIZED
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from gmd.http.backend import FromVitals
from gmd.http.errors import HttpError
from gmd.http.operators import admit


@get(
    "/metrics",
    summary="Counters and gauges for Prometheus",
    media_type=MediaType.TEXT,
    responses={
        HTTP_401_UNAUTHORIZED: ResponseSpec(
            HttpError, description="The token is missing or wrong.", generate_examples=False
        )
    },
)
async def metrics(
    registry: NamedDependency[SkipValidation[CollectorRegistry]], backend: FromVitals, request: Request[Any, Any, Any]
) -> Response[bytes]:
    """Return the metrics as OpenMetrics to clients that accept it, else in Prometheus' older text format.

    Where the daemon has a `metrics_token`, the request must carry it: `Authorization: Bearer TOKEN`.
    """
    admit(request.headers.get("authorization", ""), backend.metrics_token, "/metrics")
    try:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
    except (TypeError, ValueError):  # the header names no existing version
        encode, content_type = choose_encoder("")
    return Response(encode(registry), headers={"content-type": content_type})
