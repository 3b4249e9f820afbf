"""The header of the PROXY protocol, which says whose connection a load balancer passes on."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
import structlog
import trio
from hypothesis import given
from hypothesis import strategies as st

from gmd.net.addresses import source_of
from gmd.net.proxies import BadProxyHeader, client_of
from tests.helpers import connected, running_daemon

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
PING = b'\0\0\0\x10{"kind": "ping"}'


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[trio.SocketStream, trio.SocketStream]]:
    """Yield both ends of a connection."""
    one, other = trio.socket.socketpair()
    async with trio.SocketStream(one) as first, trio.SocketStream(other) as second:
        yield first, second


async def read(header: bytes, *, more: bytes = b"more") -> str | None:
    """Return the client that a header names; check that nothing after it was read."""
    async with pair() as (proxy, server):
        await proxy.send_all(header + more)
        client = await client_of(server)
        assert await server.receive_some() == more
        return client


def binary(host: IPv4Address | IPv6Address, port: int, rest: bytes = b"", command: int = 0x21) -> bytes:
    """Return a header of version 2."""
    addresses = host.packed * 2 + struct.pack("!HH", port, 7100) + rest
    return SIGNATURE + struct.pack("!BBH", command, 0x11 if host.version == 4 else 0x21, len(addresses)) + addresses


def line(host: IPv4Address | IPv6Address, port: int) -> bytes:
    """Return a header of version 1."""
    return f"PROXY TCP{host.version} {host} {host} {port} 7100\r\n".encode()


def written(host: IPv4Address | IPv6Address, port: int) -> str:
    return f"{host}:{port}" if host.version == 4 else f"[{host}]:{port}"


@given(st.ip_addresses(), st.integers(0, 65_535), st.binary(max_size=200))
def test_client_is_read_from_both_versions(host: IPv4Address | IPv6Address, port: int, rest: bytes) -> None:
    assert trio.run(read, binary(host, port, rest)) == written(host, port)
    assert trio.run(read, line(host, port)) == written(host, port)


@pytest.mark.parametrize(
    "header",
    [
        b"PROXY UNKNOWN\r\n",
        b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n",
        binary(ip_address("192.0.2.1"), 4711, command=0x20),
        SIGNATURE + struct.pack("!BBH", 0x21, 0x31, 3) + b"abc",
    ],
    ids=["unknown", "unknown with addresses", "local", "unix"],
)
async def test_connection_of_the_proxy_itself_has_no_client(header: bytes) -> None:
    assert await read(header) is None


@pytest.mark.parametrize(
    "header",
    [
        PING,
        b"PROXY TCP4 192.0.2.1 192.0.2.2 nine 7100\r\n",
        b"PROXY TCP4 192.0.2.256 192.0.2.2 9 7100\r\n",
        b"PROXY TCP4 192.0.2.1\r\n",
        b"PROXY TCP4 " + b"1" * 200,
        SIGNATURE + struct.pack("!BBH", 0x11, 0x11, 12) + b"x" * 12,
        SIGNATURE + struct.pack("!BBH", 0x21, 0x11, 11) + b"x" * 11,
        SIGNATURE + struct.pack("!BBH", 0x21, 0x11, 65_535),
        b"PROXY",
    ],
)
async def test_anything_else_is_refused(header: bytes) -> None:
    async with pair() as (proxy, server):
        await proxy.send_all(header)
        await proxy.send_eof()
        with pytest.raises(BadProxyHeader):
            await client_of(server)


async def test_header_that_does_not_come_is_not_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    async with pair() as (proxy, server):
        await proxy.send_all(SIGNATURE)
        with pytest.raises(trio.TooSlowError):
            await client_of(server)


@pytest.mark.parametrize("header", [line(ip_address("192.0.2.7"), 9), binary(ip_address("192.0.2.7"), 9)])
async def test_daemon_counts_a_proxied_client_by_its_own_address(header: bytes) -> None:
    with structlog.testing.capture_logs() as events:
        async with running_daemon(trusted_proxies="127.0.0.1", proxy_protocol=True) as daemon:
            stream = await trio.open_tcp_stream("127.0.0.1", daemon.port)
            async with stream:
                await stream.send_all(header + PING)
                assert (await stream.receive_some())[4:] == b'{"error":null}'
    (ended,) = [event for event in events if event["event"] == "session ended" or event["event"] == "request answered"]
    assert ended["peer"] == "192.0.2.7:9"
    assert source_of(ended["peer"]) == "192.0.2.7"


async def test_connection_without_a_header_is_closed_and_logged() -> None:
    with structlog.testing.capture_logs() as events:
        async with running_daemon(trusted_proxies="127.0.0.1", proxy_protocol=True) as daemon:
            stream = await trio.open_tcp_stream("127.0.0.1", daemon.port)
            async with stream:
                await stream.send_all(PING)
                with suppress(trio.BrokenResourceError):  # a reset, where the rest was not read
                    assert await stream.receive_some() == b""
    (said,) = [event for event in events if event["event"].startswith("a trusted proxy")]
    assert said["reason"].startswith("the connection begins with")


async def test_header_of_an_untrusted_client_is_no_header() -> None:
    async with running_daemon(trusted_proxies="192.0.2.1", proxy_protocol=True) as daemon:
        async with connected(daemon) as client:
            assert (await client.ask("ping"))["error"] is None
        stream = await trio.open_tcp_stream("127.0.0.1", daemon.port)
        async with stream:
            await stream.send_all(line(ip_address("192.0.2.7"), 9))
            assert b'"code":"bad_frame"' in await stream.receive_some()
