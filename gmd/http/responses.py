"""Responses as they are sent."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus
from time import time
from wsgiref.handlers import format_date_time

Header = tuple[bytes, bytes]

#: The phrases of statuses, for people who read an error.
_PHRASES = {each.value: each.phrase.encode() for each in HTTPStatus if each >= HTTPStatus.BAD_REQUEST}
#: The statuses of responses without a body.
_EMPTY = (204, 304)
#: The end of the head of a connection's last response.
_LAST = b"connection: close\r\n\r\n"
#: Has a client send its body.
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class RawResponse:
    """A whole response. How it is sent depends on the request and on the connection."""

    __slots__ = ("_body", "_start")

    def __init__(self, status: int, headers: Iterable[Header], body: bytes) -> None:
        """Format its head.

        :raises ValueError: a header has a line end in it.
        """
        headers = list(headers)
        if status in _EMPTY:
            body = b""
        elif all(name.lower() != b"content-length" for name, _ in headers):
            headers.append((b"content-length", b"%d" % len(body)))
        self._start = _start(status, _PHRASES.get(status, b""), headers)
        self._body = body

    def encode(self, *, is_last: bool = True, has_body: bool = True) -> bytes:
        """Return it as bytes.

        :param is_last: whether the connection is closed after it.
        :param has_body: whether the body is sent, as it is not to HEAD.
        """
        head = self._start + (_LAST if is_last else b"\r\n")
        return head + self._body if has_body else head


def stream_head(headers: Iterable[Header]) -> bytes:
    """Return the head of a response that ends with its connection.

    :raises ValueError: a header has a line end in it.
    """
    return _start(200, b"OK", headers) + _LAST


def _start(status: int, phrase: bytes, headers: Iterable[Header]) -> bytes:
    lines = [b"%b: %b\r\n" % header for header in headers]
    given = b"".join(lines)
    if given.count(b"\n") > len(lines) or given.count(b"\r") > len(lines):
        raise ValueError("a header of the response has a line end in it")
    return b"HTTP/1.1 %d %b\r\n%bdate: %b\r\n" % (status, phrase, given, _date(int(time())))


@lru_cache(1)
def _date(second: int) -> bytes:
    return format_date_time(second).encode()
