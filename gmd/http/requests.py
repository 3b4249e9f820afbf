"""Reading requests: h11 reads their heads, unless these are quite usual; what h11 is lenient about is refused here.

RFC 9112 lets a server be lenient in places where another server in front of it may be strict. A request could then be
smuggled past that server as a part of another one. No client needs this leniency. The following are refused, and the
connection is closed:

* lines that end with a bare line feed, and bare carriage returns (2.2): in request lines, headers, chunk headers and
  trailers;
* other versions than HTTP/1.1 and HTTP/1.0 (2.3);
* targets other than a path and its query, such as whole URLs (3.2);
* hosts that cannot be part of an URL (3.2);
* header lines that are continued on the next (5.2);
* ``Content-Length`` more than once, as a list, or as anything but digits (6.3);
* ``Transfer-Encoding`` together with ``Content-Length``, more than once, or in another version than HTTP/1.1 (6.1);
* chunk headers that are anything but hexadecimal digits and a short extension (7.1), and malformed trailers.

h11 itself refuses whitespace before the colon (5.1) and inside the request line (3), and codings other than chunked.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import NamedTuple

import h11

#: The size of the largest head, chunk header, and trailers.
MAX_HEAD = 16_384
#: Chunks after which other connections get their turns: reading a chunk takes some microseconds.
PARTS = 32
#: Number of chunks from which they must hold so many bytes on average: one-byte chunks would cost the server a
#: thousand times what they cost the client.
MANY_CHUNKS, LEAST_CHUNK = 64, 64

#: A line with a wrong ending, or a continued one.
_ODD_LINE = re.compile(rb"(?<!\r)\n|\r(?!\n)|\r\n[ \t]")
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LINE_END = re.compile(rb"\n")
_TRAILERS_END = re.compile(rb"\A\r?\n|\n\r?\n")
#: A head as HTTP libraries write it. The repetitions are possessive, so that no head is scanned twice.
_USUAL = re.compile(rb"([A-Z]{1,20}) ([!-~]++) HTTP/1\.1\r\n((?:[A-Za-z0-9-]++: [!-~][ -~]*+\r\n)++)\r\n")
#: Headers of requests that are more than a head and a body of a stated length.
_MORE = frozenset([b"transfer-encoding", b"upgrade", b"expect"])
#: The headers that say where a body ends, with their values.
_FRAMING = re.compile(rb"\n(content-length|transfer-encoding):([^\r]*)", re.IGNORECASE)
_LENGTH = re.compile(rb"[ \t]*[0-9]{1,18}[ \t]*")
#: No body's size needs more than sixteen digits; extensions are ignored here, and get little room.
_CHUNK_HEADER = re.compile(rb"([0-9A-Fa-f]{1,16})(?:[ \t]*;[\t -~\x80-\xff]{0,256})?\r\n")
_TRAILERS = re.compile(rb"(?:[-!#$%&'*+.^_`|~0-9A-Za-z]+:[^\0\r\n]*\r\n)*\r\n")
_VERSIONS = ("1.1", "1.0")
#: A character that is in no host.
_NO_HOST = re.compile(rb"[^!-~]|[\"#/<>?@\\^`{|}]")

_NOT_HTTP = "this is not an HTTP request; this port speaks HTTP/1.1"
_CODINGS = "transfer-encoding: send chunked alone, or a content-length"
_LINES = "request head: end each line with CR LF, and do not continue lines"


class Refusal(Exception):
    """What is wrong with a request, and its status. The connection is closed after it."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


class Head(NamedTuple):
    """The head of a request.

    :ivar headers: names in lower case, and values.
    :ivar length: the size of its body; None for a body in chunks.
    :ivar is_last: whether the client sends no more requests on this connection.
    :ivar is_expecting: whether the client waits for the status 100 before it sends the body.
    """

    method: str
    target: bytes
    version: str
    headers: list[tuple[bytes, bytes]]
    length: int | None
    is_last: bool
    is_expecting: bool

    def accepts(self, media_type: bytes) -> bool:
        """Return whether the client names a media type among those that it accepts."""
        return any(name == b"accept" and media_type in value for name, value in self.headers)


class RequestReader:
    """Reads the requests of one connection, each of them whole."""

    def __init__(
        self, receive: Callable[[], Awaitable[bytes]], max_body: int, give_way: Callable[[], Awaitable[None]]
    ) -> None:
        """:param receive: returns the next bytes of the connection; none where the client has closed.
        :param max_body: the size of the largest body, in bytes.
        :param give_way: gives other connections their turns; called between chunks.
        """
        self._receive = receive
        self._max_body = max_body
        self._give_way = give_way
        #: What was read and belongs to no request yet.
        self._data = bytearray()

    @property
    def ahead(self) -> int:
        """The number of bytes read that belong to no whole head or body yet."""
        return len(self._data)

    def forget(self) -> None:
        """Drop what was read."""
        self._data.clear()

    async def head(self) -> Head | None:
        """Return the head of the next request; None where the client has closed instead.

        :raises Refusal: it cannot be read, or not in one way only.
        """
        if not self._data and not await self._more():
            return None
        if self._data[0] < ord("!"):  # of TLS, for example, no blank line would follow
            raise Refusal(400, _LINES if self._data[0] == ord("\n") else _NOT_HTTP)
        return read_head(await self._through(_BLANK_LINE, "request head"))

    async def body(self, head: Head) -> bytes:
        """Return the body of the request with this head.

        :raises Refusal: it is too large, or cannot be read in one way only.
        """
        if head.length is None:
            return bytes(await self._chunks())
        self._check_size(head.length)
        return await self._exactly(head.length)

    async def _chunks(self) -> bytearray:
        body, count = bytearray(), 0
        while size := await self._chunk_size():
            self._check_size(len(body) + size)
            chunk, count = await self._exactly(size + 2), count + 1
            if not chunk.endswith(b"\r\n"):
                raise Refusal(400, _NOT_HTTP)
            body += memoryview(chunk)[:-2]
            if count >= MANY_CHUNKS and len(body) < LEAST_CHUNK * count:
                raise Refusal(400, f"send the body in chunks of at least {LEAST_CHUNK} bytes, or in one")
            if count % PARTS == 0:
                await self._give_way()
        trailers = await self._through(_TRAILERS_END, "trailers")
        if _TRAILERS.fullmatch(trailers) is None:
            raise Refusal(400, _LINES if _ODD_LINE.search(trailers) else _NOT_HTTP)
        return body

    async def _chunk_size(self) -> int:
        found = _CHUNK_HEADER.fullmatch(await self._through(_LINE_END, "chunk header"))
        if found is None:
            sentence = "chunk header: begin it with the size in hexadecimal digits and end it with CR LF"
            raise Refusal(400, sentence)
        return int(found[1], 16)

    def _check_size(self, size: int) -> None:
        if size > self._max_body:
            raise Refusal(413, f"the body is larger than {self._max_body} bytes")

    async def _through(self, end: re.Pattern[bytes], part: str) -> bytes:
        """Return a part of a request, up to and with a match."""
        searched = 0
        while (found := end.search(self._data, max(0, searched - 2))) is None and len(self._data) <= MAX_HEAD:
            searched = len(self._data)
            await self._expect_more()
        if found is None or found.end() > MAX_HEAD:
            raise Refusal(431, f"{part}: send at most {MAX_HEAD} bytes")
        return self._taken(found.end())

    async def _exactly(self, size: int) -> bytes:
        while len(self._data) < size:
            await self._expect_more()
        return self._taken(size)

    def _taken(self, size: int) -> bytes:
        data = bytes(memoryview(self._data)[:size])
        del self._data[:size]
        return data

    async def _expect_more(self) -> None:
        if not await self._more():
            raise Refusal(400, "the connection was closed before the end of the request")

    async def _more(self) -> bool:
        data = await self._receive()
        self._data += data
        return bool(data)


def read_head(data: bytes) -> Head:
    """Return the head that some bytes are.

    :raises Refusal: they are none, or two readers may take them for different ones.
    """
    head = _usual_head(data) or _unusual_head(data)
    if head.version not in _VERSIONS:
        raise Refusal(400, _NOT_HTTP)
    if not head.target.startswith(b"/") or b"#" in head.target:
        raise Refusal(400, "request line: send the path of the resource, which begins with /, and no fragment")
    fields = dict(head.headers)
    if _NO_HOST.search(fields.get(b"host", b"")):
        raise Refusal(400, "host: send the name of this server as URLs have it")
    if b"transfer-encoding" in fields and head.version != "1.1":
        raise Refusal(400, "transfer-encoding: it needs HTTP/1.1")
    if fields.get(b"upgrade", b"").lower() == b"websocket":
        raise Refusal(403, "upgrade: this port has no websockets")
    return head


def _usual_head(data: bytes) -> Head | None:
    """Return a head as HTTP libraries write it, in a tenth of the time that h11 takes; None for any other.

    h11 reads the same in it, as a test shows.
    """
    if (found := _USUAL.fullmatch(data)) is None:
        return None
    method, target, lines = found.groups()
    fields = [line.split(b": ", 1) for line in lines[:-2].split(b"\r\n")]
    headers = {name.lower(): value.rstrip() for name, value in fields}
    length, connection = headers.get(b"content-length", b"0"), headers.get(b"connection", b"keep-alive").lower()
    is_usual = connection in (b"keep-alive", b"close") and _LENGTH.fullmatch(length) and _MORE.isdisjoint(headers)
    if not is_usual or b"host" not in headers or len(headers) < len(fields):
        return None
    return Head(method.decode(), target, "1.1", [*headers.items()], int(length), connection == b"close", False)


def _unusual_head(data: bytes) -> Head:
    """Return a head that h11 reads."""
    _check_lines(data)
    parser = h11.Connection(h11.SERVER)
    parser.receive_data(data)
    try:
        request = parser.next_event()
    except h11.RemoteProtocolError as error:
        status = error.error_status_hint
        raise Refusal(status, _CODINGS if status == HTTPStatus.NOT_IMPLEMENTED else _NOT_HTTP) from None
    assert isinstance(request, h11.Request)  # the data is a whole head
    headers = list(request.headers)
    fields = dict(headers)
    return Head(
        request.method.decode(),
        request.target,
        request.http_version.decode(),
        headers,
        None if b"transfer-encoding" in fields else int(fields.get(b"content-length", 0)),
        request.http_version < b"1.1" or _is_closing(headers),
        parser.they_are_waiting_for_100_continue,
    )


def _check_lines(data: bytes) -> None:
    """Check what h11 does not show, because it evens it out."""
    if _ODD_LINE.search(data):
        raise Refusal(400, _LINES)
    framing = _FRAMING.findall(data)
    if len(framing) > 1:
        raise Refusal(400, "content-length and transfer-encoding: send exactly one of them")
    for name, value in framing:
        if name.lower() == b"content-length" and not _LENGTH.fullmatch(value):
            raise Refusal(400, "content-length: send one whole number, with digits only")


def _is_closing(headers: list[tuple[bytes, bytes]]) -> bool:
    values = (value.lower().split(b",") for name, value in headers if name == b"connection")
    return any(option.strip() == b"close" for options in values for option in options)
