"""The key under which a client's address is counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

#: Leading bits of an IPv6 address that identify a customer of a provider: it can use any address below them.
IPV6_BITS = 64
#: Addresses in the cache: each request for a game needs the source of its session's address several times.
MAX_ADDRESSES = 1_024
#: The key of all loopback addresses: any user of this machine can use all 16 million.
LOOPBACK = "127.0.0.1"


def source_of(peer: str) -> str:
    """Return the key for all addresses of one customer: an IPv4 address, an IPv6 network, or this machine.

    :param peer: host:port; a host that is no IP address is returned as it is.
    """
    return _subscriber(peer.rpartition(":")[0].strip("[]"))


@lru_cache(MAX_ADDRESSES)
def _subscriber(address: str) -> str:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if parsed.is_loopback and _loopback_is_one:
        return LOOPBACK
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(ip_network((parsed, IPV6_BITS), strict=False))


@lru_cache(MAX_ADDRESSES)
def is_loopback(address: str) -> bool:
    """Return whether a text is an address of the machine's own, as a socket gives it."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback  # a socket for both versions has mapped ones


def is_public(source: str) -> bool:
    """Return whether a key, as :func:`source_of` returns it, is that of addresses of the internet."""
    try:
        return ip_address(source.partition("/")[0]).is_global
    except ValueError:
        return False


_loopback_is_one = True


@contextmanager
def separate_loopback() -> Iterator[None]:
    """Count every loopback address separately while the context is open.

    It is for tests and benchmarks, whose clients stand for clients of other machines. No setting does this: every user
    of the machine could evade all limits.
    """
    global _loopback_is_one
    before, _loopback_is_one = _loopback_is_one, False
    _subscriber.cache_clear()
    try:
        yield
    finally:
        _loopback_is_one = before
        _subscriber.cache_clear()
