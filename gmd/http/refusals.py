"""Refusals as HTTP has them: the status of each code, and one shape for the body."""

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
from msgspec import Struct

from gm_protocol.errors import GmError
from gmd.local import Refused

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


class Error(Struct, frozen=True):
    """A sentence for people, and a word of ``PROTOCOL``'s for programs."""

    error: str
    code: str


class Unusual(Exception):
    """A refusal whose status is not its code's usual one."""

    def __init__(self, refusal: Refused, status: int) -> None:
        super().__init__(str(refusal))
        self.code = refusal.code
        self.status = status


def refused(_: Request[Any, Any, Any], refusal: GmError | Refused | Unusual) -> Response[Error]:
    """The response to a request that was refused."""
    status = _STATUSES.get(refusal.code, HTTP_400_BAD_REQUEST)
    if isinstance(refusal, Unusual):
        status = refusal.status
    headers = {}
    if status == HTTP_401_UNAUTHORIZED:
        headers["www-authenticate"] = CHALLENGE
    elif status == HTTP_503_SERVICE_UNAVAILABLE:
        headers["retry-after"] = str(_retry_after(refusal))
    return Response(Error(str(refusal), refusal.code), status_code=status, headers=headers)


def _retry_after(refusal: GmError | Refused | Unusual) -> int:
    given = refusal.reply.get("retry_after") if isinstance(refusal, Refused) else getattr(refusal, "retry_after", None)
    return ceil(given or RETRY_SECONDS)


def documented(**sentences: str) -> dict[int, ResponseSpec]:
    """Refusals for the OpenAPI document, by name: ``bad_request="Game is finished."``. Any route may be unavailable."""
    sentences = {"unavailable": UNAVAILABLE, **sentences}
    return {
        _BY_NAME[name]: ResponseSpec(Error, description=sentence, generate_examples=False)
        for name, sentence in sentences.items()
    }


_BY_NAME = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "unavailable": 503,
}

#: What the manual says of requests without a player.
UNAUTHORIZED = "Invalid or empty authentication information."
#: Why any route may refuse: its client then tries again.
UNAVAILABLE = "The server is stopping, or busy with too many attempts; Retry-After says when to try again."
