"""TLS on the connections between daemons: both sides show a certificate that the authority of the cluster has signed.

The handshake with the cluster's secret follows inside. The names in the certificates are not compared: the authority
is to sign those of the daemons alone.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from typing import Protocol

import trio

from .handshake import HANDSHAKE_SECONDS, HandshakeRefused

#: Bytes that are read at once from a connection whose bytes are passed on.
PIECE = 1 << 16


class Contexts(Protocol):
    """The SSL contexts of a daemon; :class:`gmd.link_certificate.LinkCertificate` has them."""

    @property
    def server(self) -> ssl.SSLContext:
        """For connections that come in from other daemons."""

    @property
    def client(self) -> ssl.SSLContext:
        """For connections to other daemons."""

    def reload(self) -> None:
        """Read the files again, for new connections."""


async def under_tls(stream: trio.abc.Stream, context: ssl.SSLContext, *, server_side: bool) -> trio.abc.Stream:
    """Return a connection under TLS, after its handshake. The other side may still refuse a client's certificate.

    :raises HandshakeRefused: the handshake failed, or takes too long.
    :raises trio.BrokenResourceError: the connection broke.
    """
    tls = trio.SSLStream(stream, context, server_side=server_side, https_compatible=True)
    with trio.move_on_after(HANDSHAKE_SECONDS):
        try:
            await tls.do_handshake()
        except trio.BrokenResourceError as error:
            raise tls_refusal(error) or error from None
        return tls
    raise HandshakeRefused(f"TLS: the handshake was not finished in {HANDSHAKE_SECONDS:g} seconds")


def tls_refusal(error: trio.BrokenResourceError) -> HandshakeRefused | None:
    """Return what TLS itself says about a broken connection; None if it does not."""
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return HandshakeRefused(f"TLS: its certificate does not fit link_ca: {cause.verify_message}")
    if isinstance(cause, ssl.SSLEOFError):
        return HandshakeRefused("TLS: it ended the connection; does it have link_cert?")
    if isinstance(cause, ssl.SSLError):
        return HandshakeRefused(f"TLS: {cause.reason or cause}; do all daemons have certificates that fit link_ca?")
    return None


class Passage:
    """A connection under TLS as a bare socket of this machine, for code that needs one.

    :ivar inside: the socket; what is written to it goes to the other daemon, and what that sends can be read from it.
    """

    def __init__(self, tls: trio.abc.Stream) -> None:
        ours, theirs = socket.socketpair()
        self.inside = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
        self._outside = trio.SocketStream(trio.socket.from_stdlib_socket(theirs))
        self._tls = tls

    async def run(self) -> None:
        """Pass bytes on until either side ends."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._pass, self._tls, self._outside, nursery.cancel_scope)
                await self._pass(self._outside, self._tls, nursery.cancel_scope)
        finally:
            await trio.aclose_forcefully(self._tls)
            await trio.aclose_forcefully(self._outside)

    @staticmethod
    async def _pass(source: trio.abc.Stream, target: trio.abc.Stream, scope: trio.CancelScope) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while data := await source.receive_some(PIECE):
                await target.send_all(data)
        scope.cancel()
