"""Responses as bytes."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from time import time
from wsgiref.handlers import format_date_time

Header = tuple[bytes, bytes]

#: The phrases of statuses, for people who read an error.
_PHRASES = {each.value: each.phrase.encode() for each in HTTPStatus if each >= HTTPStatus.BAD_REQUEST}
#: The statuses of responses without a body.
_EMPTY = (204, 304)
#: Has a client send its body.
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class _Date:
    """The date of responses, formatted once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._value = b""

    def value(self) -> bytes:
        if (now := int(time())) != self._second:
            self._second, self._value = now, format_date_time(now).encode()
        return self._value


_date = _Date()


def response_head(status: int, phrase: bytes, headers: Iterable[Header], *, is_last: bool) -> bytes:
    """Return the head of a response.

    :param phrase: the status in words, if any.
    :param is_last: whether the connection is closed after it.
    :raises ValueError: a header has a line end in it.
    """
    lines = [b"%b: %b\r\n" % header for header in headers]
    given = b"".join(lines)
    if given.count(b"\n") > len(lines) or given.count(b"\r") > len(lines):
        raise ValueError("a header of the response has a line end in it")
    end = b"connection: close\r\n\r\n" if is_last else b"\r\n"
    return b"HTTP/1.1 %d %b\r\n%bdate: %b\r\n%b" % (status, phrase, given, _date.value(), end)


def response(status: int, headers: Iterable[Header], body: bytes, *, is_last: bool, has_body: bool = True) -> bytes:
    """Return a whole response.

    :param is_last: whether the connection is closed after it.
    :param has_body: whether the body is sent, as it is not to HEAD.
    """
    headers = list(headers)
    if status in _EMPTY:
        has_body = False
    elif all(name.lower() != b"content-length" for name, _ in headers):
        headers.append((b"content-length", b"%d" % len(body)))
    head = response_head(status, _PHRASES.get(status, b""), headers, is_last=is_last)
    return head + body if has_body else head
