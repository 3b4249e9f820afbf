"""The key under which a client's address is counted."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

#: Leading bits of an IPv6 address that identify a customer of a provider: it can use any address below them.
IPV6_BITS = 64
#: Addresses in the cache: each request for a game needs the source of its session's address several times.
MAX_ADDRESSES = 1_024


def source_of(peer: str) -> str:
    """Return the key for all addresses of one customer: an IPv4 address, or an IPv6 network.

    :param peer: host:port; a host that is no IP address is returned as it is.
    """
    return _subscriber(peer.rpartition(":")[0].strip("[]"))


@lru_cache(MAX_ADDRESSES)
def _subscriber(address: str) -> str:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, IPV6_BITS), strict=False))
