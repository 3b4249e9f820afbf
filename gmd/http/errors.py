"""Errors over HTTP: all have one shape, that of the game protocol's error replies."""

from __future__ import annotations

from http import HTTPStatus
from math import ceil
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.status_codes import HTTP_404_NOT_FOUND, HTTP_405_METHOD_NOT_ALLOWED, HTTP_500_INTERNAL_SERVER_ERROR
from msgspec import UNSET, Struct, UnsetType

from gm_protocol.errors import TooMany
from gmd.logger import get_logger

logger = get_logger(__name__)

#: The error code of each status; any other status gets :data:`BAD_REQUEST`.
CODES = {
    401: "unauthorized",
    403: "unauthorized",
    404: "not_found",
    405: "method_not_allowed",
    500: "internal",
    503: "too_many",
}
BAD_REQUEST = "bad_request"


class HttpError(Struct, frozen=True):
    """An error: a sentence for people and a code for programs; with ``too_many``, the seconds until the next retry."""

    error: str
    code: str
    retry_after: int | UnsetType = UNSET


def encoded(status: int, sentence: str, retry_after: int | UnsetType = UNSET) -> bytes:
    """Return the body of an error response, where litestar does not make it."""
    return msgspec.json.encode(HttpError(sentence, CODES.get(status, BAD_REQUEST), retry_after))


def whole_response(status: int, sentence: str, retry_after: float | None = None) -> bytes:
    """Return a whole error response as bytes; the connection is closed after it.

    :param retry_after: seconds, where waiting helps.
    """
    seconds = UNSET if retry_after is None else ceil(retry_after)
    body = encoded(status, sentence, seconds)
    headers = "" if retry_after is None else f"retry-after: {seconds}\r\n"
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n{headers}connection: close\r\n\r\n"
    )
    return head.encode() + body


def refusal(error: TooMany) -> bytes:
    """Return the whole response to a connection that is refused or evicted."""
    return whole_response(503, str(error), error.retry_after)


def refused(request: Request[Any, Any, Any], error: HTTPException) -> Response[HttpError]:
    """Return the response to an error of litestar's, or of a route of ours."""
    status, sentence, headers = error.status_code, error.detail, dict(error.headers or {})
    path = request.scope["path"]
    if status == HTTP_404_NOT_FOUND:
        advice = "see /schema for the routes" if request.app.openapi_config else "this port has /healthz and /metrics"
        sentence = f"{path}: no such path; {advice}"
    elif status == HTTP_405_METHOD_NOT_ALLOWED and "allow" in headers:
        taken = headers["allow"].split(", ")
        if "GET" in taken:
            headers["allow"] = ", ".join([*taken, "HEAD"])  # the intake turns HEAD into GET
        instead = " or ".join(method for method in taken if method != "OPTIONS")
        sentence = f"{path}: {request.method} is not allowed; send {instead}"
    elif isinstance(error, ValidationException) and isinstance(error.extra, list):
        sentence = "; ".join(f"{each['key']}: {each['message']}" for each in error.extra) or sentence
    return Response(HttpError(sentence, CODES.get(status, BAD_REQUEST)), status_code=status, headers=headers)


def failed(request: Request[Any, Any, Any], error: Exception) -> Response[HttpError]:
    """Log an internal error and return its response. The log names only the route: the request may hold a key."""
    logger.error("http request failed", method=request.method, route=request.scope["path_template"], exc_info=error)
    body = HttpError("the server failed on this request; its log says why", CODES[HTTP_500_INTERNAL_SERVER_ERROR])
    return Response(body, status_code=HTTP_500_INTERNAL_SERVER_ERROR)
