"""TLS: the server's certificate, and streams under TLS.

Under TLS the protocol is the same. Two things differ from the common use of TLS. A connection may end without TLS's
close_notify: many clients just close, and as frames have lengths, an attacker gains nothing by cutting a connection
off. And TLS is ended before the connection, so that the lingering close can wait on the bare connection until the
client has read its last reply.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from functools import partial

import trio

from gmd.config import ConfigError

#: The first byte of every TLS connection: the type of a handshake record. As the first byte of a frame's length, it
#: would mean a frame of 350 MB.
HANDSHAKE_RECORD = 0x16
#: Longest ClientHello in bytes: OpenSSL allocates the length that the client claims, and today's have up to 2,000.
MAX_HELLO = 8_192
#: Bytes read from the bare connection at once: one TLS record with its overhead. OpenSSL's buffers grow to what they
#: once held, and never shrink.
MAX_RECORD = 17_408
#: Bytes encrypted at once: what fits into one record. All encrypted bytes are in memory until the peer has room.
MAX_PLAIN = 16_384
#: Estimated bytes of memory that a handshake takes, and OpenSSL's buffers of a connection for as long as it is open.
HANDSHAKE_BYTES = 65_536
CONNECTION_BYTES = 49_152


#: Reads some bytes, at most the given number.
Receive = Callable[[int], Awaitable[bytes | bytearray]]


class NotTls(Exception):
    """An error: the peer does not speak TLS."""


class HandshakeFailed(Exception):
    """An error: the TLS handshake failed, or the peer left during it."""


class _TransportEnded(Exception):
    """An error: the transport has ended, with TLS's close_notify or without."""


class Certificate:
    """The server's certificate with its private key, in two PEM files that may be replaced by newer ones.

    :ivar context: the SSL context for new connections.
    """

    def __init__(self, cert: str, key: str, setting: str = "tls") -> None:
        """:param setting: the prefix of the settings' names: ``tls`` for ``tls_cert`` and ``tls_key``.
        :raises ConfigError: the files cannot be used; the message names the setting and the file.
        """
        self._cert, self._key, self._setting = cert, key, setting
        self.context = server_context(cert, key, setting)

    def reload(self) -> None:
        """Read both files again, for new connections.

        :raises ConfigError: they cannot be used; the previous certificate stays in use.
        """
        self.context = server_context(self._cert, self._key, self._setting)


def certificate_of(cert: str | None, key: str | None, setting: str = "tls") -> Certificate | None:
    """Load the certificate that the settings ``tls_cert`` and ``tls_key`` name; None if neither is given.

    :param setting: the prefix of the settings' names.
    :raises ConfigError: one is given without the other, or they cannot be used.
    """
    if not cert and not key:
        return None
    if not cert or not key:
        given, missing = (f"{setting}_cert", f"{setting}_key")[:: 1 if cert else -1]
        raise ConfigError(f"{given}: {cert or key!r} goes with {missing}, which is not given")
    return Certificate(cert, key, setting)


def server_context(cert: str, key: str, setting: str) -> ssl.SSLContext:
    """Return a server's context: TLS 1.2 or newer, and the library's default ciphers, of which none is weak.

    :param setting: the prefix of the settings' names.
    :raises ConfigError: the files cannot be used; the message names the setting and the file.
    """
    for suffix, file in (("cert", cert), ("key", key)):
        _check_readable(f"{setting}_{suffix}", file)
    _check_certificate(cert, setting)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # Debian's Python leaves this to the system's configuration
    context.options |= ssl.OP_NO_RENEGOTIATION  # with TLS 1.2, a client could use it to waste processor time
    try:
        context.load_cert_chain(cert, key, password=partial(_refuse_passphrase, key, setting))
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ConfigError(f"{setting}_key: {key} is not the key of the certificate in {cert}") from error
        if error.reason is not None and error.reason.startswith("EE_"):  # about the certificate: too weak, for one
            raise ConfigError(f"{setting}_cert: the certificate in {cert} cannot be used: {error.reason}") from error
        raise ConfigError(f"{setting}_key: {key} holds no private key in PEM") from error
    return context


def _check_readable(setting: str, file: str) -> None:
    try:
        with open(file, "rb") as opened:
            opened.read(1)
    except (OSError, ValueError) as error:  # ValueError: not a valid file name
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{setting}: {file} cannot be read: {reason}") from error


def _check_certificate(cert: str, setting: str) -> None:
    """Check the certificate alone: an error in loading it with its key would not say which of them is wrong."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cert)
    except ssl.SSLError as error:
        raise ConfigError(f"{setting}_cert: {cert} holds no certificate in PEM") from error


def _refuse_passphrase(key: str, setting: str) -> str:
    """Raise an error instead of OpenSSL's prompt on the terminal, which a daemon cannot answer."""
    raise ConfigError(f"{setting}_key: {key} is encrypted; a daemon needs a key without a passphrase")


class TlsStream(trio.abc.Stream):
    """The server's end of a connection under TLS.

    :ivar transport: the bare connection.
    """

    def __init__(self, transport: trio.abc.Stream, context: ssl.SSLContext, receive: Receive | None = None) -> None:
        """:param receive: reads from the bare connection, in place of its own method."""
        self.transport = transport
        self._bare = _Transport(transport, receive or transport.receive_some)
        self._tls = trio.SSLStream(self._bare, context, server_side=True)

    @property
    def reads(self) -> int:
        """The number of reads from the bare connection. One may hold many records, which are received one by one."""
        return self._bare.reads

    async def do_handshake(self) -> None:
        """Do the TLS handshake; nothing can be sent or received before it. After a cancellation the stream is useless.

        :raises NotTls: the peer's first bytes are not TLS. Nothing has been sent.
        :raises HandshakeFailed: the handshake failed.
        """
        try:
            await self._tls.do_handshake()
        except _TransportEnded:
            raise HandshakeFailed("the connection ended") from None
        except trio.BrokenResourceError as error:
            cause = error.__cause__
            raise HandshakeFailed(cause.reason if isinstance(cause, ssl.SSLError) else str(cause)) from None

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if len(data) <= MAX_PLAIN:
            await self._tls.send_all(data)
            return
        view = memoryview(data)
        for start in range(0, len(data), MAX_PLAIN):
            await self._tls.send_all(view[start : start + MAX_PLAIN])

    async def wait_send_all_might_not_block(self) -> None:
        await self._tls.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Return some bytes; empty where the peer has ended its side, of TLS or of the connection."""
        try:
            return await self._tls.receive_some(max_bytes)
        except _TransportEnded:
            return b""

    async def end(self) -> None:
        """Send close_notify and end TLS; the transport stays open.

        With input unread, OpenSSL fails and sends no close_notify: the peer then sees only the end of the transport.
        """
        await self._tls.aclose()

    async def aclose(self) -> None:
        """Close the connection at once, without ending TLS."""
        await self.transport.aclose()


class _Transport(trio.abc.Stream):
    """The transport of TLS: a connection that outlives it.

    Its end raises an exception. An empty read would break the TLS stream, so that no reply could be sent any more.

    :ivar reads: how many reads have returned.
    """

    def __init__(self, stream: trio.abc.Stream, receive: Receive) -> None:
        self._stream = stream
        self._receive = receive
        self._looked = False
        self.reads = 0

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._receive(MAX_RECORD if max_bytes is None else max_bytes)
        self.reads += 1
        if not data:
            raise _TransportEnded
        if not self._looked:
            self._looked = True
            if data[0] != HANDSHAKE_RECORD:
                raise NotTls
            if int.from_bytes(data[6:9]) > MAX_HELLO:  # after the record's header and the message's type
                raise trio.BrokenResourceError("the client's hello is too long") from OSError("its hello is too long")
        return data

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()
