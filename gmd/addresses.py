"""What stands for a client's address where clients are counted."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

#: One subscriber of IPv6 has so many leading bits to itself, and as many addresses below them as it likes.
IPV6_BITS = 64
#: Peers whose sources are kept, some two megabytes: each request for a game asks for its session's several times. What
#: is kept tells nothing to others, for nobody asks as somebody else's peer.
MAX_PEERS = 10_000


@lru_cache(MAX_PEERS)
def source_of(peer: str) -> str:
    """What stands for all addresses of one subscriber's."""
    address = peer.rpartition(":")[0].strip("[]")
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, IPV6_BITS), strict=False))


def is_loopback(source: str) -> bool:
    """Whether a source (:func:`source_of`) is this machine."""
    try:
        return ip_network(source).network_address.is_loopback
    except ValueError:
        return False
