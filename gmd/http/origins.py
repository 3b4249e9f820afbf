"""Requests that are refused for where they come from: other sites' and other names', which browsers send for anybody.

A page of any site can make a browser send requests to this machine. If its name then resolves to this machine (DNS
rebinding), the browser takes our answers for that site's own, and the page reads them. Such a request has that name as
its ``Host``. So on loopback only our own names are served: addresses, names without a dot and under :data:`PRIVATE`,
which no site has, and those of the setting ``public_host``, by which a proxy on this machine forwards requests.

To the API a browser may send a password that it remembers, whichever site's page asked. It says so in
``Sec-Fetch-Site`` or ``Origin``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from gm_protocol.errors import quote
from gmd.config import ConfigError
from gmd.http.requests import Refusal
from gmd.net.addresses import is_loopback

#: Hosts that are remembered as ours or not.
MAX_HOSTS = 1_024
#: What is served under any name: whether the daemon lives, and the pages of a game with their files, which show what
#: anybody may see.
_PUBLIC = re.compile(r"/healthz|/(?:games|embed)/[^/]+|/static/.+")
#: Domains that the internet's name servers never have, by RFC 6761, 6762 and 8375 and a resolution of ICANN: names of
#: machines (``mac.local``), containers (``host.docker.internal``) and services (``gmd.default.svc.cluster.local``).
PRIVATE = (".localhost", ".local", ".internal", ".home.arpa", ".test")
_SLASHES = re.compile(r"/{2,}")  # which litestar takes for one
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


class Origins:
    """The names that this server is reached by, and the requests that are refused."""

    def __init__(self, public: Iterable[str] = ()) -> None:
        """:param public: further names, in lower case."""
        self._public = frozenset(public)
        self._is_ours = lru_cache(MAX_HOSTS)(self._has_our_name)

    @classmethod
    def parse(cls, setting: str | None) -> Origins:
        """Parse the setting ``public_host``: names, separated by commas.

        :raises ConfigError: a part is no name.
        """
        names = [name.strip().lower() for name in (setting or "").split(",") if name.strip()]
        for name in names:
            if not _NAME.fullmatch(name):
                raise ConfigError(f"public_host: {name!r} is not a host name; give it without scheme, port and path")
        return cls(names)

    def refusal(self, scope: Mapping[str, Any], *, shows_all: bool) -> Refusal | None:
        """Return why a request is refused; None if it is not.

        :param scope: the request's.
        :param shows_all: whether everybody sees live games in full: then their pages are for our own names, too.
        """
        fields: dict[bytes, bytes] = dict(scope["headers"])
        if b"authorization" in fields and [name for name, _ in scope["headers"]].count(b"authorization") > 1:
            return Refusal(400, "authorization: sent more than once; send it once")
        host, path = fields.get(b"host", b"").decode("latin-1").lower(), _SLASHES.sub("/", scope["path"])
        if not self._is_ours(host) and _is_loopback(scope["server"]):
            is_public = scope["method"] == "GET" and _PUBLIC.fullmatch(path) is not None
            if not is_public or (shows_all and path != "/healthz"):
                return Refusal(421, _foreign(host))
        if path.startswith("/api/") and not self.is_own(
            _text(fields, b"sec-fetch-site"), _text(fields, b"origin"), host
        ):
            return Refusal(
                403, "origin: another site's page has sent this; programs send neither Origin nor this one's"
            )
        return None

    def is_own(self, site: str | None, origin: str | None, host: str) -> bool:
        """Return whether a request comes from a page of ours, or from no page, by a browser's headers.

        :param site: ``Sec-Fetch-Site``, which is believed first: a proxy may change the host.
        :param origin: ``Origin``; programs send neither, which is None.
        """
        if site is not None:
            return site in ("same-origin", "none")
        return origin is None or (sent_from := _netloc(origin)) == host or _name_of(sent_from) in self._public

    def _has_our_name(self, host: str) -> bool:
        """Return whether a ``Host`` is one that no other site's page can have."""
        name = _name_of(host)
        if "." not in name or name in self._public or name.endswith(PRIVATE):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def _text(fields: Mapping[bytes, bytes], name: bytes) -> str | None:
    value = fields.get(name)
    return None if value is None else value.decode("latin-1").strip().lower()


def _name_of(host: str) -> str:
    """Return a host's name without its port, and without the dot at its end; an IPv6 address has no dot."""
    return "" if host.startswith("[") else host.partition(":")[0].removesuffix(".")


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _is_loopback(server: tuple[str, int] | None) -> bool:
    """Return whether a request came to an address of this machine alone; a browser cannot use a Unix socket."""
    return server is not None and is_loopback(server[0])


def _foreign(host: str) -> str:
    return f"host: {quote(host)} is not a name of this server; if a proxy serves it so, start gmd with --public-host"
