"""What stands for a client's address where clients are counted."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

#: One subscriber of IPv6 has so many leading bits to itself, and as many addresses below them as it likes.
IPV6_BITS = 64
#: Addresses whose sources are kept: each request for a game asks for its session's several times.
MAX_ADDRESSES = 1_024


def source_of(peer: str) -> str:
    """What stands for all addresses of one subscriber's."""
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
