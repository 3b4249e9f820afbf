"""``/metrics``: the daemon's counts, for Prometheus."""

from __future__ import annotations

from typing import Any

from litestar import MediaType, Request, Response, get
from litestar.di import NamedDependency
from litestar.params import SkipValidation
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder


@get("/metrics", summary="Counts and gauges for Prometheus", media_type=MediaType.TEXT)
async def metrics(
    registry: NamedDependency[SkipValidation[CollectorRegistry]], request: Request[Any, Any, Any]
) -> Response[bytes]:
    """The format is OpenMetrics for those who accept that, else Prometheus' older text format."""
    try:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
    except (TypeError, ValueError):  # it names a version that is none
        encode, content_type = choose_encoder("")
    return Response(encode(registry), headers={"content-type": content_type})
