"""What the daemon refuses, as HTTP has it: a status for each code, in the shape that all errors have."""

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

#: What a client is to send in place of nothing, or of what was wrong.
CHALLENGE = 'Basic realm="gmd", charset="UTF-8"'
#: Seconds after which to try again where nothing is known; reconchess's clients try twice a second whatever we say.
RETRY_SECONDS = 1

#: The statuses that reconchess's manual gives. What may be tried again is 503, for its client tries that again, and
#: takes any other refusal for the end of its game.
_STATUSES = {
    "unauthorized": HTTP_401_UNAUTHORIZED,
    "not_a_player": HTTP_401_UNAUTHORIZED,
    "no_such_game": HTTP_404_NOT_FOUND,
    "too_many": HTTP_503_SERVICE_UNAVAILABLE,
    "shutting_down": HTTP_503_SERVICE_UNAVAILABLE,
    "internal": HTTP_500_INTERNAL_SERVER_ERROR,
}


class Unusual(Exception):
    """A refusal whose status is not its code's usual one."""

    def __init__(self, refusal: GmError | Refused, status: int) -> None:
        super().__init__(str(refusal))
        self.code = refusal.code
        self.status = status


def refusal(_: Request[Any, Any, Any], refused: GmError | Refused | Unusual) -> Response[HttpError]:
    """The response to a request that was refused."""
    status = refused.status if isinstance(refused, Unusual) else _STATUSES.get(refused.code, HTTP_400_BAD_REQUEST)
    headers, retry_after = {}, _retry_after(refused)
    if status == HTTP_401_UNAUTHORIZED:
        headers["www-authenticate"] = CHALLENGE
    elif status == HTTP_503_SERVICE_UNAVAILABLE:
        headers["retry-after"] = str(retry_after or RETRY_SECONDS)
    body = HttpError(str(refused), refused.code, UNSET if retry_after is None else retry_after)
    return Response(body, status_code=status, headers=headers)


def _retry_after(refused: GmError | Refused | Unusual) -> int | None:
    given = refused.reply.get("retry_after") if isinstance(refused, Refused) else getattr(refused, "retry_after", None)
    return None if given is None else ceil(given)


def documented_with_body(**sentences: str) -> dict[int, ResponseSpec]:
    """The same as :func:`documented`, for a route that takes a body."""
    return documented(**BODY, **sentences)


def documented(**sentences: str) -> dict[int, ResponseSpec]:
    """Refusals for the OpenAPI document, by name: ``bad_request="Game is finished."``; and those of any route."""
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

#: What the manual says of requests without a player.
UNAUTHORIZED = "Invalid or empty authentication information."
#: Why a route that takes a body may refuse.
BODY = {
    "too_slow": "The body did not arrive in time.",
    "too_large": "The body is larger than max_message, which is a mebibyte unless the operator says otherwise.",
}
#: What may become of a request on any route: reconchess's client then sends it again.
FAILED = "The server failed, and its log says why; nothing was done."
UNAVAILABLE = "The server is stopping, or busy with too many attempts; Retry-After says when to try again."
