"""Plain requests for a game's routes as bytes, and responses: what reconchess's client sends nine times a turn.

h11 and hypercorn, which read all other requests, take many times as long over one of these as it takes to recognise it
here. Plain requests are a subset of what h11 accepts, and are read as h11 reads them; h11 gets all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import time
from wsgiref.handlers import format_date_time

#: A head as HTTP libraries write it. The repetitions are possessive, so that no head is scanned twice.
_HEAD = re.compile(
    rb"(GET|POST) /api/games/([0-9]{1,16})/([a-z_]{1,40}) HTTP/1\.1\r\n((?:[A-Za-z0-9-]++: [!-~][ -~]*+\r\n)++)\r\n"
)
#: A host that litestar accepts.
_HOST = re.compile(rb"[A-Za-z0-9.-]{1,255}(?::[0-9]{1,5})?")
_LENGTH = re.compile(rb"[0-9]{1,9}")
#: Headers of requests that are more than a head and a body of a stated length.
_MORE = frozenset([b"transfer-encoding", b"upgrade", b"expect"])


@dataclass(frozen=True, slots=True)
class Plain:
    """The head of a plain request.

    :ivar what: the last part of its path.
    :ivar headers: their values, by lower-case names.
    :ivar start: the length of the head, where the body begins.
    :ivar end: where the body ends.
    """

    method: str
    game_id: int
    what: str
    headers: Mapping[bytes, bytes]
    start: int
    end: int

    @property
    def path(self) -> str:
        """The path, without leading zeros in the game's number."""
        return f"/api/games/{self.game_id}/{self.what}"


def read_plain(data: bytes) -> Plain | None:
    """Return the head at the beginning of some bytes; None where it is not whole, or not plain."""
    if (found := _HEAD.match(data)) is None:
        return None
    method, game_id, what, lines = found.groups()
    fields = [line.split(b": ", 1) for line in lines[:-2].split(b"\r\n")]
    headers = {name.lower(): value.rstrip() for name, value in fields}
    length = headers.get(b"content-length", b"0")
    if (
        len(headers) < len(fields)  # a header repeats
        or not _MORE.isdisjoint(headers)
        or headers.get(b"connection", b"keep-alive").lower() != b"keep-alive"
        or _HOST.fullmatch(headers.get(b"host", b"")) is None
        or _LENGTH.fullmatch(length) is None
    ):
        return None
    start = found.end()
    return Plain(method.decode(), int(game_id), what.decode(), headers, start, start + int(length))


class _Date:
    """The date of responses, formatted once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def line(self) -> bytes:
        """Return the date header and the end of the head."""
        if (now := int(time())) != self._second:
            self._second, self._line = now, b"date: %s\r\n\r\n" % format_date_time(now).encode()
        return self._line


_date = _Date()


def response(status: int, body: bytes, headers: Iterable[tuple[str, str]] = ()) -> bytes:
    """Return a JSON response as bytes.

    :param headers: further headers, with lower-case names.
    """
    more = "".join(f"{name}: {value}\r\n" for name, value in headers).encode()
    return b"HTTP/1.1 %d \r\n%scontent-type: application/json\r\ncontent-length: %d\r\n%s%s" % (
        status,
        more,
        len(body),
        _date.line(),
        body,
    )
