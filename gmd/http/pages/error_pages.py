"""Errors as pages: for browsers, in words. Programs get the JSON that all other routes have."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.status_codes import (
    HTTP_400_BAD_REQUEST,
    HTTP_403_FORBIDDEN,
    HTTP_404_NOT_FOUND,
    HTTP_408_REQUEST_TIMEOUT,
    HTTP_409_CONFLICT,
    HTTP_413_REQUEST_ENTITY_TOO_LARGE,
    HTTP_500_INTERNAL_SERVER_ERROR,
    HTTP_503_SERVICE_UNAVAILABLE,
)
from msgspec import UNSET

from gm_protocol.errors import GmError
from gmd.handlers.in_process import Refused
from gmd.http.backend import backend_of
from gmd.http.errors import HttpError, failed, refused, retry_after
from gmd.http.pages.rendering import page
from gmd.http.pages.visit import visit_of

#: The statuses of refused requests. A page for players asks nobody for HTTP Basic, so it has no 401.
_STATUSES = {
    "unauthorized": HTTP_403_FORBIDDEN,
    "not_a_player": HTTP_403_FORBIDDEN,
    "no_such_game": HTTP_404_NOT_FOUND,
    "not_available": HTTP_409_CONFLICT,
    "game_over": HTTP_409_CONFLICT,
    "stale": HTTP_409_CONFLICT,
    "not_your_turn": HTTP_409_CONFLICT,
    "wrong_phase": HTTP_409_CONFLICT,
    "too_many": HTTP_503_SERVICE_UNAVAILABLE,
    "shutting_down": HTTP_503_SERVICE_UNAVAILABLE,
    "internal": HTTP_500_INTERNAL_SERVER_ERROR,
}
_TITLES = {
    HTTP_400_BAD_REQUEST: "That cannot be used",
    HTTP_403_FORBIDDEN: "Not allowed",
    HTTP_404_NOT_FOUND: "Not found",
    HTTP_408_REQUEST_TIMEOUT: "Too late",
    HTTP_409_CONFLICT: "Not possible now",
    HTTP_413_REQUEST_ENTITY_TOO_LARGE: "Too large",
    HTTP_503_SERVICE_UNAVAILABLE: "Busy",
    HTTP_500_INTERNAL_SERVER_ERROR: "The server has failed",
}
#: Paths of programs, which get JSON whatever they accept.
_PROGRAMS = ("/api", "/schema", "/healthz", "/metrics")


def refusal_page(request: Request[Any, Any, Any], error: GmError | Refused) -> Response[Any]:
    """Return the page that says why a request was refused."""
    shown = _page(request, status_of(error), sentence_of(error))
    if (seconds := retry_after(error)) is not None:
        shown.headers["retry-after"] = str(seconds)
    return shown


def refusal_anywhere(request: Request[Any, Any, Any], error: GmError | Refused) -> Response[Any]:
    """Return why a request for a file was refused: a page for a browser that opens it, else JSON."""
    if wants_page(request):
        return refusal_page(request, error)
    seconds = retry_after(error)
    body = HttpError(str(error), error.code, UNSET if seconds is None else seconds)
    headers = {"cache-control": "no-store", **({} if seconds is None else {"retry-after": str(seconds)})}
    return Response(body, status_code=status_of(error), headers=headers)


def status_of(error: GmError | Refused) -> int:
    """Return the status of the answer that refuses a request."""
    if error.code == "internal" and retry_after(error) is not None:
        return HTTP_503_SERVICE_UNAVAILABLE
    return _STATUSES.get(error.code, HTTP_400_BAD_REQUEST)


def sentence_of(error: GmError | Refused) -> str:
    """Return a refusal for people: a sentence, without the protocol's field that the refusal begins with."""
    text = str(error)
    field, colon, rest = text.partition(": ")
    return _sentence(rest if colon and field.isidentifier() else text)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


def http_page(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """Return the page for an error of litestar's on a route of pages."""
    if error.status_code == HTTP_404_NOT_FOUND:
        return _page(request, HTTP_404_NOT_FOUND, f"There is no page {request.scope['path']}.")
    response = refused(request, error)
    shown = _page(request, error.status_code, _sentence(response.content.error))
    shown.headers.update(response.headers)
    return shown


def failed_page(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Log an internal error, and return its page."""
    return _page(request, HTTP_500_INTERNAL_SERVER_ERROR, _sentence(failed(request, error).content.error))


def refused_anywhere(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """Return the answer to an error outside the routes, such as an unknown path: a page for a browser, else JSON."""
    if wants_page(request):
        return http_page(request, error)
    return refused(request, error)


def wants_page(request: Request[Any, Any, Any]) -> bool:
    """Return whether the request is a browser's for a page."""
    accepts = request.headers.get("accept", "")
    return "text/html" in accepts and not request.scope["path"].startswith(_PROGRAMS)


def _page(request: Request[Any, Any, Any], status: int, sentence: str) -> Response[Any]:
    visit = visit_of(request, backend_of(request))
    title = _TITLES.get(status, _TITLES[HTTP_400_BAD_REQUEST])
    return page(visit, "error.html", status=status, title=title, sentence=sentence)
