"""Where a request comes from: the other end of the connection, or, where that is a known proxy, what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from gmd.config import ConfigError

_Network = IPv4Network | IPv6Network
_Address = IPv4Address | IPv6Address


class Proxies:
    """The proxies that are believed. Anybody can write ``X-Forwarded-For``; what they add to its end is true."""

    def __init__(self, networks: Sequence[_Network] = ()) -> None:
        self._networks = networks

    @classmethod
    def parse(cls, setting: str | None) -> Proxies:
        """Those of the setting ``trusted_proxies``: addresses and networks, with commas between them.

        :raises ConfigError: something in it is neither.
        """
        networks = []
        for part in (setting or "").split(","):
            if not (text := part.strip()):
                continue
            try:
                networks.append(ip_network(text))
            except ValueError as error:
                raise ConfigError(f"trusted_proxies: {text!r} is no address or network: {error}") from None
        return cls(networks)

    def peer(self, client: tuple[str, int] | None, forwarded: Iterable[str]) -> str:
        """Who counts as the sender, as host:port; the port is 0 where a proxy has said who it is.

        :param client: the other end of the connection.
        :param forwarded: the values of its ``X-Forwarded-For`` headers, in their order.
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
                break  # whoever wrote this is not to be understood, and the one before has let it in
            found = address
            if not self._trusted(address):
                break
        return f"{found}:0"

    def trusts(self, host: str) -> bool:
        """Whether a connection from a host is a proxy's."""
        return bool(self._networks) and self._trusted(_address(host))

    def client_of(self, client: tuple[str, int] | None) -> str:
        """Whose a connection is, as host:port; empty where it is a proxy's, and so many clients'.

        :param client: the other end of the connection.
        """
        return "" if client is None or self.trusts(client[0]) else f"{client[0]}:{client[1]}"

    def _trusted(self, address: _Address | None) -> bool:
        return address is not None and any(address in network for network in self._networks)


#: An address with its port, as in 192.0.2.1:4711 and [2001:db8::1]:4711, whose port may be missing.
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}|\[([^\]]+)\](?::[0-9]{1,5})?")


def _address(text: str) -> _Address | None:
    """An address as a header or a socket has it; an IPv4 one that IPv6 carries is that."""
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
