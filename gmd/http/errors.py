"""Errors over HTTP: one shape, wherever they come from, which is that of the game protocol's error replies."""

from __future__ import annotations

from http import HTTPStatus
from math import ceil
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.status_codes import HTTP_404_NOT_FOUND, HTTP_405_METHOD_NOT_ALLOWED, HTTP_500_INTERNAL_SERVER_ERROR
from msgspec import UNSET, Struct, UnsetType

from gmd.logger import get_logger

logger = get_logger(__name__)

#: The codes of statuses; what else is wrong with a request is that it is a bad one.
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
    """What is wrong, in a sentence, and a word for programs; with ``too_many``, in how many seconds to try again."""

    error: str
    code: str
    retry_after: int | UnsetType = UNSET


def encoded(status: int, sentence: str, retry_after: int | UnsetType = UNSET) -> bytes:
    """The body of an error response, where litestar does not make it."""
    return msgspec.json.encode(HttpError(sentence, CODES.get(status, BAD_REQUEST), retry_after))


def whole_response(status: int, sentence: str, retry_after: float | None = None) -> bytes:
    """A whole error response as bytes, behind which the connection is closed.

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


def refused(request: Request[Any, Any, Any], error: HTTPException) -> Response[HttpError]:
    """litestar's refusals, and those of our routes."""
    status, sentence, headers = error.status_code, error.detail, dict(error.headers or {})
    path = request.scope["path"]
    if status == HTTP_404_NOT_FOUND:
        there_is = "/schema says what there is" if request.app.openapi_config else "this port has /healthz and /metrics"
        sentence = f"{path}: there is nothing here; {there_is}"
    elif status == HTTP_405_METHOD_NOT_ALLOWED and "allow" in headers:
        taken = headers["allow"].split(", ")
        if "GET" in taken:
            headers["allow"] = ", ".join([*taken, "HEAD"])  # which the intake makes a GET of
        instead = " or ".join(method for method in taken if method != "OPTIONS")
        sentence = f"{path}: {request.method} is not taken here; send {instead}"
    elif isinstance(error, ValidationException) and isinstance(error.extra, list):
        sentence = "; ".join(f"{each['key']}: {each['message']}" for each in error.extra) or sentence
    return Response(HttpError(sentence, CODES.get(status, BAD_REQUEST)), status_code=status, headers=headers)


def failed(request: Request[Any, Any, Any], error: Exception) -> Response[HttpError]:
    """A fault of ours: the daemon's log has it, with the route and nothing the client wrote, which may be a key."""
    logger.error("http request failed", method=request.method, route=request.scope["path_template"], exc_info=error)
    body = HttpError("the server failed on this request; its log says why", CODES[HTTP_500_INTERNAL_SERVER_ERROR])
    return Response(body, status_code=HTTP_500_INTERNAL_SERVER_ERROR)
