"""A stricter h11: it refuses what two readers of one connection may take for different requests.

RFC 9112 lets a server be lenient in places where another server in front of it may be strict. A request could then be
smuggled past that server as a part of another one. No client needs this leniency. The following are refused, each with
status 400, and the connection is closed:

* lines that end with a bare line feed, and bare carriage returns (2.2): in request lines, headers, chunk headers and
  trailers;
* header lines that are continued on the next (5.2);
* ``Content-Length`` more than once, as a list, or as anything but digits (6.3);
* ``Transfer-Encoding`` together with ``Content-Length``, more than once, or in HTTP/1.0 (6.1);
* chunk headers that are anything but hexadecimal digits and a short extension (7.1).

h11 itself refuses whitespace before the colon (5.1) and inside the request line (3), and codings other than chunked.
"""

from __future__ import annotations

import re

import h11
from h11._receivebuffer import ReceiveBuffer

#: A line with a wrong ending, or a continued one.
_ODD_LINE = re.compile(rb"(?<!\r)\n|\r(?!\n)|\r\n[ \t]")
_LENGTH = re.compile(rb"[ \t]*[0-9]{1,18}[ \t]*")
#: No body's size needs more than sixteen digits; extensions are ignored here, and get little room.
_CHUNK_HEADER = re.compile(rb"[0-9A-Fa-f]{1,16}(?:[ \t]*;[\t -~\x80-\xff]{0,256})?\r\n")
_BLANK_LINE = re.compile(rb"\n\r?\n")


class StrictConnection(h11.Connection):
    """A server's connection that reads strictly. h11 takes all its lines from this connection's buffer."""

    def __init__(self, max_incomplete_event_size: int) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size)
        self._receive_buffer = self._buffer = _StrictBuffer()

    @property
    def refusal(self) -> str:
        """What this reader found wrong with the request, and what to do; empty where it found nothing."""
        return self._buffer.refusal


class _StrictBuffer(ReceiveBuffer):
    """Gives h11 whole heads, trailers and chunk headers. h11 reports the errors raised here as the client's."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal = ""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Return the lines of a head or of trailers; None until all have arrived."""
        if self._data[:1] == b"\n":
            raise self._refused(_ODD)
        if self._data[:2] != b"\r\n":
            end = _BLANK_LINE.search(self._data, self._multiple_lines_search)
            if end is not None and _ODD_LINE.search(self._data, 0, end.end()):
                raise self._refused(_ODD)
        lines = super().maybe_extract_lines()
        if lines and (wrong := _wrong_framing(lines)):
            raise self._refused(wrong)
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        """Return the header of a chunk; None until it has arrived."""
        line = super().maybe_extract_next_line()
        if line is not None and not _CHUNK_HEADER.fullmatch(line):
            raise self._refused("chunk header: begin it with the size in hexadecimal digits and end it with CR LF")
        return line

    def _refused(self, sentence: str) -> h11.LocalProtocolError:
        self.refusal = sentence
        return h11.LocalProtocolError(sentence)


_ODD = "request head: end each line with CR LF, and do not continue lines"


def _wrong_framing(lines: list[bytearray]) -> str:
    """Return what is wrong with a head's framing of the body; empty where exactly one header gives the length."""
    fields = [(name.lower(), value) for name, _, value in (bytes(line).partition(b":") for line in lines)]
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if len(lengths) + len(codings) > 1:
        return "content-length and transfer-encoding: send exactly one of them"
    if lengths and not _LENGTH.fullmatch(lengths[0]):
        return "content-length: send one whole number, with digits only"
    if codings and not lines[0].endswith(b" HTTP/1.1"):
        return "transfer-encoding: it needs HTTP/1.1"
    return ""
