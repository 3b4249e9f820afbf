"""TLS for tests: new certificates, daemons that use them, and clients that trust them."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import trio
import trustme

from gmd.daemon import Daemon
from tests.helpers import Client, Json, running_daemon


class Certificates(NamedTuple):
    """A certificate for ``localhost`` and 127.0.0.1 with its key, and the authority that signed it."""

    ca: Path
    cert: Path
    key: Path

    def trust(self) -> ssl.SSLContext:
        """Return a client's context that trusts this authority alone."""
        return ssl.create_default_context(cafile=self.ca)

    @property
    def settings(self) -> dict[str, Any]:
        """A daemon's settings."""
        return {"tls_cert": str(self.cert), "tls_key": str(self.key)}

    @property
    def flags(self) -> list[str]:
        """A daemon's arguments."""
        return ["--tls-cert", str(self.cert), "--tls-key", str(self.key)]


def make_certificates(directory: Path) -> Certificates:
    """Make new certificates, signed by a new authority, in files of a directory, which is made if need be."""
    directory.mkdir(exist_ok=True)
    made = Certificates(directory / "ca.pem", directory / "cert.pem", directory / "key.pem")
    authority = trustme.CA()
    leaf = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(made.ca)
    leaf.private_key_pem.write_to_path(made.key)
    made.cert.write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
    return made


@asynccontextmanager
async def tls_daemon(certificates: Certificates, **settings: Any) -> AsyncIterator[Daemon]:
    """Run a daemon with TLS on a free port of the loopback address."""
    async with running_daemon(**certificates.settings, **settings) as daemon:
        yield daemon


class TlsClient(Client):
    """A client under TLS.

    :ivar tls: its stream, which accepts only TLS's own message as the end of what the server sends.
    """

    def __init__(
        self,
        transport: trio.abc.Stream,
        certificates: Certificates,
        newest: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED,
    ) -> None:
        context = certificates.trust()
        context.maximum_version = newest
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF  # some versions of Python have set it
        self.tls = trio.SSLStream(transport, context, server_hostname="localhost")
        super().__init__(self.tls)

    async def end(self) -> None:
        """End the connection's sending side without TLS's closing message."""
        transport = self.tls.transport_stream
        assert isinstance(transport, trio.abc.HalfCloseableStream)
        await transport.send_eof()


@asynccontextmanager
async def tls_connected(
    daemon: Daemon, certificates: Certificates, *, hello: bool = True, **fields: Any
) -> AsyncIterator[TlsClient]:
    """Open a connection to a daemon; with ``hello``, begin a version 2 session on it."""
    client = TlsClient(await trio.open_tcp_stream("127.0.0.1", daemon.port), certificates)
    try:
        if hello:
            reply: Json = await client.ask("hello", **fields)
            assert reply["error"] is None, reply
        yield client
    finally:
        await client.aclose()
