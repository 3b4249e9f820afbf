"""Answers beyond the limit of connections: health and metrics only."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, Scope

from gmd.http.errors import encoded
from gmd.net.admission import RETRY_SECONDS

#: The paths that are answered even beyond the limit.
HEALTH_PATHS = frozenset(["/healthz", "/metrics"])
#: Seconds after which a refused client may retry, as HTTP has them: a whole number.
RETRY_AFTER = ceil(RETRY_SECONDS)


def health_alone(app: ASGIFramework, sentence: str, refused: Callable[[], None]) -> ASGIFramework:
    """Return an application that serves health and metrics, refuses anything else, and closes each connection.

    :param sentence: the reason for refusals.
    :param refused: called for each refusal.
    """

    async def application(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        async def send_last(event: ASGISendEvent) -> None:
            if event["type"] == "http.response.start":
                event["headers"] = [*event["headers"], (b"connection", b"close")]
            await send(event)

        if scope["type"] == "http" and scope["path"] in HEALTH_PATHS:
            await app(scope, receive, send_last)
        else:
            refused()
            await _refuse(sentence, send_last)

    return application


async def _refuse(sentence: str, send: ASGISendCallable) -> None:
    body = encoded(503, sentence, RETRY_AFTER)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"retry-after", b"%d" % RETRY_AFTER),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers, "trailers": False})
    await send({"type": "http.response.body", "body": body, "more_body": False})
