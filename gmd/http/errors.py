"""Errors over HTTP: a status for each error code, and one shape, that of the game protocol's error replies."""

from __future__ import annotations

from math import ceil
from typing import Any

import msgspec
from litestar import Litestar, Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi import ResponseSpec
from litestar.status_codes import (
    HTTP_400_BAD_REQUEST,
    HTTP_401_UNAUTHORIZED,
    HTTP_404_NOT_FOUND,
    HTTP_405_METHOD_NOT_ALLOWED,
    HTTP_500_INTERNAL_SERVER_ERROR,
    HTTP_503_SERVICE_UNAVAILABLE,
)
from litestar.types import Receive, Send
from msgspec import UNSET, Struct, UnsetType

from gm_protocol.errors import GmError, TooMany
from gmd.handlers.in_process import Refused
from gmd.http.bodies import JsonRequest
from gmd.http.responses import RawResponse
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
#: Says that the fault is the server's.
INTERNAL = "the server failed on this request; its log says why"


class HttpError(Struct, frozen=True):
    """An error: a sentence for people and a code for programs; with ``too_many``, the seconds until the next retry."""

    error: str
    code: str
    retry_after: int | UnsetType = UNSET


def error_response(status: int, sentence: str, retry_after: float | None = None) -> RawResponse:
    """Return an error that no application makes.

    :param retry_after: seconds, where waiting helps.
    """
    seconds = UNSET if retry_after is None else ceil(retry_after)
    headers = [(b"content-type", b"application/json")]
    if seconds is not UNSET:
        headers.append((b"retry-after", b"%d" % seconds))
    body = msgspec.json.encode(HttpError(sentence, CODES.get(status, BAD_REQUEST), seconds))
    return RawResponse(status, headers, body)


def too_many_response(error: TooMany) -> RawResponse:
    """Return the response to a connection that is refused, evicted, or holds too much memory."""
    return error_response(503, str(error), error.retry_after)


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
            headers["allow"] = ", ".join([*taken, "HEAD"])  # which is answered as GET
        instead = " or ".join(method for method in taken if method != "OPTIONS")
        sentence = f"{path}: {request.method} is not allowed; send {instead}"
    elif isinstance(error, ValidationException) and isinstance(error.extra, list):
        sentence = "; ".join(f"{each['key']}: {each['message']}" for each in error.extra) or sentence
    return Response(HttpError(sentence, CODES.get(status, BAD_REQUEST)), status_code=status, headers=headers)


def failed(request: Request[Any, Any, Any], error: Exception) -> Response[HttpError]:
    """Log an internal error and return its response. The log names only the route: the request may hold a key."""
    logger.error("http request failed", method=request.method, route=request.scope["path_template"], exc_info=error)
    body = HttpError(INTERNAL, CODES[HTTP_500_INTERNAL_SERVER_ERROR])
    return Response(body, status_code=HTTP_500_INTERNAL_SERVER_ERROR)


async def respond_to_error(app: Litestar, error: Exception, scope: Any, receive: Receive, send: Send) -> None:
    """Have an application respond to an error as if one of its routes had raised it.

    :param scope: the request's; ``path_template`` names its route, if the error may be an internal one.
    """
    scope["litestar_app"] = app
    handlers: Any = app.exception_handlers
    kind = next((each for each in type(error).__mro__ if each in handlers), HTTP_500_INTERNAL_SERVER_ERROR)
    request = JsonRequest(scope, receive, send)
    response: Response[Any] = handlers[kind](request, error)
    await response.to_asgi_response(None, request)(scope, receive, send)


#: Asks a client without valid authorization for HTTP Basic.
CHALLENGE = 'Basic realm="gmd", charset="UTF-8"'
#: Seconds until a retry where the error names no time; reconchess's clients retry twice a second in any case.
RETRY_SECONDS = 1

#: The statuses in reconchess's manual. An error that may be retried gets 503, because reconchess's client retries
#: only that, and takes any other refusal for the end of its game.
_STATUSES = {
    "unauthorized": HTTP_401_UNAUTHORIZED,
    "not_a_player": HTTP_401_UNAUTHORIZED,
    "no_such_game": HTTP_404_NOT_FOUND,
    "too_many": HTTP_503_SERVICE_UNAVAILABLE,
    "shutting_down": HTTP_503_SERVICE_UNAVAILABLE,
    "internal": HTTP_500_INTERNAL_SERVER_ERROR,
}


class Unusual(Exception):
    """A refusal with another status than is usual for its code."""

    def __init__(self, refusal: GmError | Refused, status: int) -> None:
        super().__init__(str(refusal))
        self.code = refusal.code
        self.status = status


def refusal(_: Request[Any, Any, Any], refused: GmError | Refused | Unusual) -> Response[HttpError]:
    """Return the response to a refused request."""
    headers, seconds = {}, retry_after(refused)
    status = refused.status if isinstance(refused, Unusual) else _STATUSES.get(refused.code, HTTP_400_BAD_REQUEST)
    if refused.code == "internal" and seconds is not None:
        status = HTTP_503_SERVICE_UNAVAILABLE
    if status == HTTP_401_UNAUTHORIZED:
        headers["www-authenticate"] = CHALLENGE
    elif status == HTTP_503_SERVICE_UNAVAILABLE:
        headers["retry-after"] = str(seconds or RETRY_SECONDS)
    body = HttpError(str(refused), refused.code, UNSET if seconds is None else seconds)
    return Response(body, status_code=status, headers=headers)


def retry_after(refused: GmError | Refused | Unusual) -> int | None:
    """Return the seconds until a retry that a refusal names; None for one that names none."""
    given = refused.reply.get("retry_after") if isinstance(refused, Refused) else getattr(refused, "retry_after", None)
    return None if given is None else ceil(given)


def documented_with_body(**sentences: str) -> dict[int, ResponseSpec]:
    """Return the same as :func:`documented`, for a route that takes a body."""
    return documented(**BODY, **sentences)


def documented(**sentences: str) -> dict[int, ResponseSpec]:
    """Return refusals for the OpenAPI document, by name, as in ``bad_request="Game is finished."``.

    Those that any route may give are added.
    """
    sentences = {"failed": FAILED, "unavailable": UNAVAILABLE, **sentences}
    return {
        _BY_NAME[name]: ResponseSpec(HttpError, description=sentence, generate_examples=False)
        for name, sentence in sentences.items()
    }


_BY_NAME = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "too_slow": 408,
    "conflict": 409,
    "too_large": 413,
    "failed": 500,
    "unavailable": 503,
}

#: The manual's description of requests without a player.
UNAUTHORIZED = "Invalid or empty authentication information."
#: Why a route that takes a body may refuse it.
BODY = {
    "too_slow": "The body did not arrive in time.",
    "too_large": "The body is larger than max_message, which is a mebibyte unless the operator says otherwise.",
}
#: What may happen to a request on any route; reconchess's client then retries.
FAILED = "The server failed, and its log says why; nothing was done."
UNAVAILABLE = "The server is stopping, or busy with too many attempts; Retry-After says when to try again."
