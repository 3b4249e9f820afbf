"""A connection that carries messages, over trio."""

from __future__ import annotations

import ssl
from typing import Self

import trio

from .blocking import (
    CONNECT_SECONDS,
    DEFAULT_PORT,
    SILENCE_SECONDS,
    ConnectionLost,
    Frames,
    frame,
    keep_alive,
    tls_context,
)

#: Errors of a broken stream; ClosedResourceError means that another task has closed it.
LOST = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)
#: Seconds in which data that has arrived is read.
TLS_WORDS_SECONDS = 0.02


class Connection:
    """A connection that carries messages, whatever they contain."""

    def __init__(self, stream: trio.SocketStream | trio.SSLStream[trio.SocketStream]) -> None:
        self._stream = stream
        self._socket = (stream.transport_stream if isinstance(stream, trio.SSLStream) else stream).socket
        self._frames = Frames()
        self._sending = trio.Lock()

    @classmethod
    async def open(
        cls,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        path: str | None = None,
        tls: bool | ssl.SSLContext = False,
        patience: float = CONNECT_SECONDS,
    ) -> Self:
        """Connect within ``patience`` seconds.

        :raises ConnectionLost: no connection can be made.
        """
        try:
            with trio.fail_after(patience):
                return cls(await _connected(host, port, path, tls))
        except (*LOST, trio.TooSlowError, UnicodeError) as error:
            raise ConnectionLost(f"cannot connect to {path or f'{host}:{port}'}: {_reason(error)}") from error

    async def send(self, *bodies: bytes) -> None:
        """Send messages in one write. If this is cancelled, the connection can no longer be used."""
        async with self._sending:
            try:
                with trio.fail_after(SILENCE_SECONDS):
                    await self._stream.send_all(b"".join(map(frame, bodies)))
            except (*LOST, trio.TooSlowError) as error:
                raise ConnectionLost(f"the connection was lost: {_reason(error)}") from error

    async def receive(self, patience: float) -> bytes:
        """Return the next message. ``patience`` limits the seconds between two pieces of it.

        :raises ConnectionLost: nothing came in time, or the connection ended.
        :raises BadReply: the data is not a message.
        """
        while (body := self._frames.take()) is None:
            try:
                with trio.fail_after(patience):
                    chunk = await self._stream.receive_some()
            except trio.TooSlowError as error:
                raise ConnectionLost("the server did not answer in time") from error
            except LOST as error:
                raise ConnectionLost(f"the connection was lost: {_reason(error)}") from error
            if not chunk:
                raise ConnectionLost("the server closed the connection")
            self._frames.feed(chunk)
        return body

    async def is_over(self) -> bool:
        """Return whether the server has closed the connection, or has sent data while no reply was pending."""
        if not self._socket.is_readable():
            return self._frames.pending > 0
        try:
            # TLS has messages of its own, which are processed at once; any other data should not be there.
            with trio.move_on_after(TLS_WORDS_SECONDS):
                await self._stream.receive_some(1)
                return True
        except LOST:
            return True
        return False

    async def close(self) -> None:
        """Close the connection at once."""
        await trio.aclose_forcefully(self._stream)

    def _abandon(self) -> None:
        """Close the connection where nothing can be awaited."""
        self._socket.close()


async def _connected(
    host: str, port: int, path: str | None, tls: bool | ssl.SSLContext
) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    if path is not None:
        return await trio.open_unix_socket(path)
    stream = await trio.open_tcp_stream(host, port)
    keep_alive(stream.setsockopt)
    if not tls:
        return stream
    secure = trio.SSLStream(stream, tls_context(tls), server_hostname=host, https_compatible=True)
    try:
        await secure.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secure


def _reason(error: BaseException) -> str:
    """Return what went wrong, without trio's wording; for a host with several addresses, the error of each."""
    if isinstance(error, trio.TooSlowError):
        return "no answer in time"
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_reason(each) for each in error.exceptions)
    if error.__cause__ is not None:
        return _reason(error.__cause__)
    return getattr(error, "strerror", None) or str(error)
