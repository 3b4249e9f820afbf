"""TLS: the server's certificate, and the stream that it makes of a connection.

The protocol under TLS is the protocol. Two things differ from TLS as it is commonly met. A connection may end without
TLS having been told: frames say where they end, so that nobody gains by cutting one off, and clients that just close
are many. And TLS is ended before the connection is, so that the farewell can wait on the bare connection for the
client to have read its last reply.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from functools import partial

import trio

from gmd.config import ConfigError

#: The first byte of every TLS connection: a record of the handshake. As a frame's, it would be a frame of 350 MB.
HANDSHAKE_RECORD = 0x16
#: Longest first message of a client's, in bytes: OpenSSL reserves what it claims, and those of today have up to 2,000.
MAX_HELLO = 8_192
#: Bytes asked of the bare connection at once: two records of TLS and what is around them.
MAX_RECORDS = 65_536
#: Bytes of memory that a handshake may take, more or less.
HANDSHAKE_BYTES = 65_536


#: Reads some bytes, at most so many.
Receive = Callable[[int], Awaitable[bytes | bytearray]]


class NotTls(Exception):
    """The peer does not speak TLS."""


class HandshakeFailed(Exception):
    """The peer speaks TLS, or left, and there is no agreement."""


class _TransportEnded(Exception):
    """The transport has ended, in TLS's own terms or not."""


class Certificate:
    """The server's certificate with its private key, in two PEM files that may be replaced by newer ones.

    :ivar context: for connections that come in now.
    """

    def __init__(self, cert: str, key: str, setting: str = "tls") -> None:
        """:param setting: what the settings' names begin with: ``tls`` for ``tls_cert`` and ``tls_key``.
        :raises ConfigError: the files cannot be used; the message names the setting and the file.
        """
        self._cert, self._key, self._setting = cert, key, setting
        self.context = _context(cert, key, setting)

    def reload(self) -> None:
        """Read both files again, for connections still to come.

        :raises ConfigError: they cannot be used; the certificate read before stays.
        """
        self.context = _context(self._cert, self._key, self._setting)


def certificate_of(cert: str | None, key: str | None, setting: str = "tls") -> Certificate | None:
    """The certificate that the settings ``tls_cert`` and ``tls_key`` name; None where neither does.

    :param setting: what their names begin with.
    :raises ConfigError: one is given without the other, or they cannot be used.
    """
    if not cert and not key:
        return None
    if not cert or not key:
        given, missing = (f"{setting}_cert", f"{setting}_key")[:: 1 if cert else -1]
        raise ConfigError(f"{given}: {cert or key!r} goes with {missing}, which is not given")
    return Certificate(cert, key, setting)


def _context(cert: str, key: str, setting: str) -> ssl.SSLContext:
    """A server's context with the library's defaults of the day: TLS 1.2 or newer, and no weak ciphers."""
    for suffix, file in (("cert", cert), ("key", key)):
        _check_readable(f"{setting}_{suffix}", file)
    _check_certificate(cert, setting)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.options |= ssl.OP_NO_RENEGOTIATION  # which lets a client of TLS 1.2 make a server work for nothing
    try:
        context.load_cert_chain(cert, key, password=partial(_refuse_passphrase, key, setting))
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ConfigError(f"{setting}_key: {key} is not the key of the certificate in {cert}") from error
        if error.reason is not None and error.reason.startswith("EE_"):  # the certificate's own: too weak, for one
            raise ConfigError(f"{setting}_cert: the certificate in {cert} cannot be used: {error.reason}") from error
        raise ConfigError(f"{setting}_key: {key} holds no private key in PEM") from error
    return context


def _check_readable(setting: str, file: str) -> None:
    try:
        with open(file, "rb") as opened:
            opened.read(1)
    except (OSError, ValueError) as error:  # ValueError: no file could have such a name
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{setting}: {file} cannot be read: {reason}") from error


def _check_certificate(cert: str, setting: str) -> None:
    """Loading certificate and key together would not tell which of them is wrong."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cert)
    except ssl.SSLError as error:
        raise ConfigError(f"{setting}_cert: {cert} holds no certificate in PEM") from error


def _refuse_passphrase(key: str, setting: str) -> str:
    """In place of OpenSSL's question on the terminal, where a daemon has nobody to answer."""
    raise ConfigError(f"{setting}_key: {key} is encrypted; a daemon needs a key without a passphrase")


class TlsStream(trio.abc.Stream):
    """One connection under TLS, server's end.

    :ivar transport: the bare connection.
    """

    def __init__(self, transport: trio.abc.Stream, context: ssl.SSLContext, receive: Receive | None = None) -> None:
        """:param receive: reads the bare connection, in place of its own method."""
        self.transport = transport
        bare = _Transport(transport, receive or transport.receive_some)
        self._tls = trio.SSLStream(bare, context, server_side=True)

    async def do_handshake(self) -> None:
        """Agree with the peer on keys; nothing can be sent or received before. Cancelled, it leaves a useless stream.

        :raises NotTls: what came is no TLS. Nothing has been sent.
        :raises HandshakeFailed: there is no agreement.
        """
        try:
            await self._tls.do_handshake()
        except _TransportEnded:
            raise HandshakeFailed("the connection ended") from None
        except trio.BrokenResourceError as error:
            cause = error.__cause__
            raise HandshakeFailed(cause.reason if isinstance(cause, ssl.SSLError) else str(cause)) from None

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._tls.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._tls.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Empty where the peer has ended its side, be it that of TLS or that of the connection."""
        try:
            return await self._tls.receive_some(max_bytes)
        except _TransportEnded:
            return b""

    async def end(self) -> None:
        """Tell the peer that nothing follows, and end TLS; the transport stays open.

        The peer is not told where it has sent what nobody has read: OpenSSL then fails. It sees the transport end.
        """
        await self._tls.aclose()

    async def aclose(self) -> None:
        """Close the connection as it is."""
        await self.transport.aclose()


class _Transport(trio.abc.Stream):
    """What TLS reads and writes: a connection that outlives it.

    Its end is an exception, and not an empty read, for that would break the TLS on it: replies could not be sent.
    """

    def __init__(self, stream: trio.abc.Stream, receive: Receive) -> None:
        self._stream = stream
        self._receive = receive
        self._looked = False

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._receive(MAX_RECORDS if max_bytes is None else max_bytes)
        if not data:
            raise _TransportEnded
        if not self._looked:
            self._looked = True
            if data[0] != HANDSHAKE_RECORD:
                raise NotTls
            if int.from_bytes(data[6:9]) > MAX_HELLO:  # behind the record's header and the message's type
                raise trio.BrokenResourceError("the client's hello is too long") from OSError("its hello is too long")
        return data

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()
