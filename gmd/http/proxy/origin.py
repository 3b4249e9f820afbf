"""What the entry daemon says about a request's client, in a header that is believed between daemons only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

#: The header. The entry daemon removes it from what clients send, and the owner reads it on connections from other
#: daemons alone, where each request has it exactly once.
HEADER = b"gmd-origin"
#: The header of a stream's response whose reader plays (:attr:`gmd.http.streaming.Stream.plays`).
PLAYS = b"gmd-plays"

_VALUE = re.compile(rb"(https?) ([0-9]{1,5}\.[0-9]{6}) (?:- 0|([!-~]{1,100}) ([0-9]{1,5}))")


class Origin(NamedTuple):
    """Where a request comes from.

    :ivar client: the other end of the client's connection; None if it has no address.
    :ivar scheme: ``https`` if it has TLS, else ``http``.
    :ivar waited: seconds since the request had arrived whole at the entry daemon.
    """

    client: tuple[str, int] | None
    scheme: str
    waited: float

    def encoded(self) -> bytes:
        """Return the header's value."""
        host, port = self.client or ("-", 0)
        return f"{self.scheme} {min(max(self.waited, 0.0), 99_999.0):.6f} {host} {port}".encode()


def origin_of(value: bytes | None) -> Origin | None:
    """Return what a header's value says; None for one that no daemon has made."""
    found = _VALUE.fullmatch(value or b"")
    if found is None:
        return None
    client = None if found[3] is None else (found[3].decode(), int(found[4]))
    return Origin(client, found[1].decode(), float(found[2]))


def taken_from(headers: Iterable[tuple[bytes, bytes]]) -> tuple[Origin | None, list[tuple[bytes, bytes]]]:
    """Return what the headers of a request say, and the other headers; None unless they say it exactly once."""
    headers = list(headers)
    values = [value for name, value in headers if name == HEADER]
    others = [header for header in headers if header[0] != HEADER]
    return (origin_of(values[0]) if len(values) == 1 else None), others
