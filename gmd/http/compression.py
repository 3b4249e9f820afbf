"""Compression of responses that tell everybody the same.

The length of a compressed response says how much of it repeats. Somebody who can have a browser ask for pages that
repeat a guess, and who sees their lengths on the network, learns from it what else is in them. So a response with
something of its visitor's own is sent as it is. Compressed are those that anybody may keep, and those to requests
without a cookie or a password.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

Header = tuple[bytes, bytes]

#: The bytes from which it pays, those above which it would keep other requests waiting, and zlib's level.
LEAST, MOST, LEVEL = 1_024, 262_144, 5
#: What is text.
_TEXT = (b"text/html", b"text/css", b"text/javascript", b"image/svg+xml", b"text/plain", b"application/json")
#: Headers of a request by which a response may be its sender's own.
_OWN = frozenset([b"cookie", b"authorization"])
#: An encoding that a client reads, and one that it does not.
_GZIP = re.compile(rb"(?:^|,)\s*gzip\s*(?:;\s*q=(?:1|0\.[0-9]*[1-9][0-9]*)[^,]*)?\s*(?:,|$)", re.IGNORECASE)


def takes_gzip(headers: Iterable[Header]) -> bool:
    """Return whether a client reads gzip."""
    return any(name == b"accept-encoding" and _GZIP.search(value) is not None for name, value in headers)


def is_anybodys(headers: Iterable[Header]) -> bool:
    """Return whether a request says nothing of its sender."""
    return not any(name in _OWN for name, _ in headers)


def may_compress(status: int, headers: Sequence[Header], size: int, *, anybodys: bool) -> bool:
    """Return whether a response may be compressed, and it pays.

    :param size: of its body.
    :param anybodys: whether the request says nothing of its sender.
    """
    given = {name.lower(): value for name, value in headers}
    is_text = given.get(b"content-type", b"").startswith(_TEXT)
    is_public = given.get(b"cache-control", b"").startswith(b"public")
    is_whole = status == 200 and b"content-encoding" not in given
    return is_whole and is_text and (anybodys or is_public) and LEAST <= size <= MOST


def compressed(headers: Sequence[Header], body: bytes, *, gzips: bool) -> tuple[Sequence[Header], bytes]:
    """Return the headers and the body of a response that may be compressed.

    :param gzips: whether the client reads gzip; without it the response only says that it depends on that.
    """
    given = {name.lower(): value for name, value in headers if name.lower() != b"set-cookie"}
    cookies = [(name, value) for name, value in headers if name.lower() == b"set-cookie"]
    given[b"vary"] = b", ".join(filter(None, [given.get(b"vary", b""), b"Accept-Encoding"]))
    if gzips:
        body = _kept(body) if b"immutable" in given.get(b"cache-control", b"") else gzip.compress(body, LEVEL, mtime=0)
        given.pop(b"content-length", None)
        given[b"content-encoding"] = b"gzip"
    return [*given.items(), *cookies], body


@lru_cache(256)
def _kept(body: bytes) -> bytes:
    """Return a static file's content compressed, which is done once."""
    return gzip.compress(body, 9, mtime=0)
