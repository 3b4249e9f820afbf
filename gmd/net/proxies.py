"""The origin of a request: the connection's other end, or the address that a trusted proxy forwards.

Over TCP a proxy says it by the PROXY protocol, a header of version 1 (a line) or 2 (binary) of
https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt. It comes before anything else, TLS included. Only trusted
proxies are believed, since anybody can send one.
"""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import trio

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


#: Seconds in which a proxy must have sent the header: it sends it with the connection.
HEADER_SECONDS = 5.0

_SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
#: The most bytes of a line of version 1, and of the rest of a header of version 2; proxies send some hundred.
_LONGEST_LINE = 107
_LONGEST_REST = 2_048
#: By the second byte after the signature of version 2, for TCP: the family, and the format of addresses and ports.
_TCP = {0x11: (socket.AF_INET, "!4s4sHH"), 0x21: (socket.AF_INET6, "!16s16sHH")}


class BadProxyHeader(Exception):
    """A trusted proxy sent no valid header of the PROXY protocol."""


async def client_of(stream: trio.SocketStream) -> str | None:
    """Read a header, and no byte more; return the client as host:port.

    :returns: None if the connection is the proxy's own, such as a health check.
    :raises BadProxyHeader: it is none, or of an unknown kind.
    :raises trio.TooSlowError: it did not come in time.
    :raises trio.BrokenResourceError: the connection is lost.
    """
    with trio.fail_after(HEADER_SECONDS):
        start = await _exactly(stream, len(_SIGNATURE))
        if start == _SIGNATURE:
            return await _version_2(stream)
        if start.startswith(b"PROXY "):
            return await _version_1(stream, start)
    raise BadProxyHeader(f"the connection begins with {start!r}")


async def _version_1(stream: trio.SocketStream, start: bytes) -> str | None:
    line = bytearray(start)
    while not line.endswith(b"\r\n"):
        if len(line) >= _LONGEST_LINE:
            raise BadProxyHeader(f"the line is longer than {_LONGEST_LINE} bytes")
        line += await _exactly(stream, 1)  # more would be the client's
    words = line[:-2].decode("ascii", "replace").split(" ")
    if words[1] == "UNKNOWN":
        return None
    if len(words) != 6 or words[1] not in ("TCP4", "TCP6"):
        raise BadProxyHeader(f"the line is {bytes(line)!r}")
    return _named(words[2], words[4])


async def _version_2(stream: trio.SocketStream) -> str | None:
    version, family, length = struct.unpack("!BBH", await _exactly(stream, 4))
    if version >> 4 != 2 or version & 0xF > 1 or length > _LONGEST_REST:
        raise BadProxyHeader(f"version and command are 0x{version:02x}, and {length} bytes follow")
    rest = await _exactly(stream, length)
    if version & 0xF == 0 or family not in _TCP:  # the proxy's own; or neither TCP nor of a known family
        return None
    kind, layout = _TCP[family]
    if length < struct.calcsize(layout):
        raise BadProxyHeader(f"{length} bytes are too few for the addresses of family 0x{family:02x}")
    source, _, port, _ = struct.unpack_from(layout, rest)
    return _named(socket.inet_ntop(kind, source), str(port))


def _named(host: str, port: str) -> str:
    """Return an address as the peer of a connection is written."""
    try:
        address, number = ip_address(host), int(port)
    except ValueError as error:
        raise BadProxyHeader(f"the client is {host!r}, port {port!r}") from error
    return f"[{address}]:{number}" if address.version == 6 else f"{address}:{number}"


async def _exactly(stream: trio.SocketStream, size: int) -> bytes:
    """Return the next bytes of a stream, exactly so many.

    :raises BadProxyHeader: it ends before.
    """
    found = bytearray()
    while len(found) < size:
        if not (part := await stream.receive_some(size - len(found))):
            raise BadProxyHeader(f"the connection ended after {len(found)} of {size} bytes")
        found += part
    return bytes(found)
