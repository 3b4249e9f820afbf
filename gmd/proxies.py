"""The origin of a request: the connection's other end or, behind a trusted proxy, the address that it forwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from gmd.config import ConfigError

_Network = IPv4Network | IPv6Network
_Address = IPv4Address | IPv6Address


class Proxies:
    """The trusted proxies. Anybody can send ``X-Forwarded-For``, but the last entries, added by these, are true."""

    def __init__(self, networks: Sequence[_Network] = ()) -> None:
        self._networks = networks

    @classmethod
    def parse(cls, setting: str | None) -> Proxies:
        """Parse the setting ``trusted_proxies``: addresses and networks, separated by commas.

        :raises ConfigError: a part is neither.
        """
        networks = []
        for part in (setting or "").split(","):
            if not (text := part.strip()):
                continue
            try:
                networks.append(ip_network(text))
            except ValueError as error:
                raise ConfigError(f"trusted_proxies: {text!r} is not an address or a network: {error}") from None
        return cls(networks)

    def peer(self, client: tuple[str, int] | None, forwarded: Iterable[str]) -> str:
        """Return the sender as host:port; the port is 0 where a proxy forwarded the address.

        :param client: the other end of the connection.
        :param forwarded: the values of its ``X-Forwarded-For`` headers, in order.
        """
        if client is None:
            return ""
        host, port = client
        if not self._networks or not self._trusted(_address(host)):
            return f"{host}:{port}"
        hops = [hop for value in forwarded for hop in value.split(",")]
        found = _address(host)
        for hop in reversed(hops):
            address = _address(hop)
            if address is None:
                break  # this entry is unreadable; the last hop accepted it, so that hop counts
            found = address
            if not self._trusted(address):
                break
        return f"{found}:0"

    def trusts(self, host: str) -> bool:
        """Return whether a connection from a host is a trusted proxy's."""
        return bool(self._networks) and self._trusted(_address(host))

    def client_of(self, client: tuple[str, int] | None) -> str:
        """Return the client of a connection as host:port; empty for a proxy, which carries many clients' requests.

        :param client: the other end of the connection.
        """
        return "" if client is None or self.trusts(client[0]) else f"{client[0]}:{client[1]}"

    def _trusted(self, address: _Address | None) -> bool:
        return address is not None and any(address in network for network in self._networks)


#: An address with an optional port, as in 192.0.2.1:4711 and [2001:db8::1]:4711.
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}|\[([^\]]+)\](?::[0-9]{1,5})?")


def _address(text: str) -> _Address | None:
    """Parse an address from a header or a socket; an IPv4-mapped IPv6 address becomes IPv4."""
    text = text.strip(" \t")
    if found := _WITH_PORT.fullmatch(text):
        text = found[1] or found[2]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
