"""h11, stricter: refuses what two readers of one connection may take for different requests.

RFC 9112 lets a server be lenient in places where another server, in front of it, may not be; a request can be
smuggled past the one that way, as a part of another. No client needs any of it. These are refused, each with 400, and
the connection is closed:

* lines that end with a bare line feed, and bare carriage returns (2.2): in request lines, headers, chunk headers and
  trailers;
* header lines that are continued on the next (5.2);
* ``Content-Length`` more than once, as a list, or as anything but digits (6.3);
* ``Transfer-Encoding`` beside ``Content-Length``, more than once, or in HTTP/1.0 (6.1);
* chunk headers that are anything but hexadecimal digits and short extensions (7.1).

h11 itself refuses whitespace before the colon (5.1) and inside the request line (3), and codings other than chunked.
"""

from __future__ import annotations

import re

import h11
from h11._receivebuffer import ReceiveBuffer

#: A line that does not end as lines do, or is continued.
_ODD_LINE = re.compile(rb"(?<!\r)\n|\r(?!\n)|\r\n[ \t]")
_LENGTH = re.compile(rb"[ \t]*[0-9]{1,18}[ \t]*")
#: Sixteen digits are more than any body has; an extension means nothing here, and needs no room.
_CHUNK_HEADER = re.compile(rb"[0-9A-Fa-f]{1,16}(?:[ \t]*;[\t -~\x80-\xff]{0,256})?\r\n")
_BLANK_LINE = re.compile(rb"\n\r?\n")


class StrictConnection(h11.Connection):
    """A server's connection that reads strictly. h11 asks nothing but its buffer for lines."""

    def __init__(self, max_incomplete_event_size: int) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size)
        self._receive_buffer = self._buffer = _StrictBuffer()

    @property
    def refusal(self) -> str:
        """What was wrong, and what to do, where that was found here; else nothing."""
        return self._buffer.refusal


class _StrictBuffer(ReceiveBuffer):
    """Gives h11 whole heads, trailers and chunk headers. What it raises h11 makes an error of the client's."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal = ""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """A head, or trailers, if all of it is there."""
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
        """The header of a chunk, if it is there."""
        line = super().maybe_extract_next_line()
        if line is not None and not _CHUNK_HEADER.fullmatch(line):
            raise self._refused(
                "the header of a chunk: begin it with its size in hexadecimal digits, end it with CR LF"
            )
        return line

    def _refused(self, sentence: str) -> h11.LocalProtocolError:
        self.refusal = sentence
        return h11.LocalProtocolError(sentence)


_ODD = "the head: end each line with CR LF, and continue none on the next"


def _wrong_framing(lines: list[bytearray]) -> str:
    """What is wrong with how a head says how long its body is; nothing where it says so in one way alone."""
    fields = [(name.lower(), value) for name, _, value in (bytes(line).partition(b":") for line in lines)]
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if len(lengths) + len(codings) > 1:
        return "content-length and transfer-encoding: send one of them, and once"
    if lengths and not _LENGTH.fullmatch(lengths[0]):
        return "content-length: send one whole number, in digits alone"
    if codings and not lines[0].endswith(b" HTTP/1.1"):
        return "transfer-encoding: it needs HTTP/1.1"
    return ""
