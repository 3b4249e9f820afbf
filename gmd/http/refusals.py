"""The daemon's refusals over HTTP: a status for each error code, in the shape that all errors have."""

from __future__ import annotations

from math import ceil
from typing import Any

from litestar import Request, Response
from litestar.openapi import ResponseSpec
from litestar.status_codes import (
    HTTP_400_BAD_REQUEST,
    HTTP_401_UNAUTHORIZED,
    HTTP_404_NOT_FOUND,
    HTTP_500_INTERNAL_SERVER_ERROR,
    HTTP_503_SERVICE_UNAVAILABLE,
)
from msgspec import UNSET

from gm_protocol.errors import GmError
from gmd.in_process import Refused

from .errors import HttpError

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
