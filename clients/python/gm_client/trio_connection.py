"""A connection that carries messages, by trio."""

from __future__ import annotations

import ssl
from typing import Self

import trio

from .blocking import CONNECT_SECONDS, DEFAULT_PORT, SILENCE_SECONDS, ConnectionLost, Frames, frame, tls_context

#: What a stream raises that leads nowhere any more; the last is another task's closing it.
LOST = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)
#: Seconds in which what has arrived is surely read.
TLS_WORDS_SECONDS = 0.02


class Connection:
    """One connection that carries messages. It knows nothing of what is in them."""

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
    ) -> Self:
        """:raises ConnectionLost: it cannot be made."""
        try:
            with trio.fail_after(CONNECT_SECONDS):
                return cls(await _connected(host, port, path, tls))
        except (*LOST, trio.TooSlowError, UnicodeError) as error:
            raise ConnectionLost(f"cannot connect to {path or f'{host}:{port}'}: {_reason(error)}") from error

    async def send(self, *bodies: bytes) -> None:
        """Send messages, in one write. Where this is cancelled, the connection is of no use any more."""
        async with self._sending:
            try:
                with trio.fail_after(SILENCE_SECONDS):
                    await self._stream.send_all(b"".join(map(frame, bodies)))
            except (*LOST, trio.TooSlowError) as error:
                raise ConnectionLost(f"the connection was lost: {_reason(error)}") from error

    async def receive(self, patience: float) -> bytes:
        """The next message, which must come, or go on coming, within so many seconds.

        :raises ConnectionLost: it does not.
        :raises BadReply: it is none.
        """
        try:
            while (body := self._frames.take()) is None:
                with trio.fail_after(patience):
                    chunk = await self._stream.receive_some()
                if not chunk:
                    raise ConnectionLost("the server closed the connection")
                self._frames.feed(chunk)
        except trio.TooSlowError as error:
            raise ConnectionLost("the server has not answered for long") from error
        except LOST as error:
            raise ConnectionLost(f"the connection was lost: {_reason(error)}") from error
        return body

    async def is_over(self) -> bool:
        """Whether the server has ended it, or speaks unasked, while nothing was to be expected of it."""
        if not self._socket.is_readable():
            return self._frames.pending > 0
        try:
            # TLS has words of its own, which are there at once; whatever else is readable should not be.
            with trio.move_on_after(TLS_WORDS_SECONDS):
                await self._stream.receive_some(1)
                return True
        except LOST:
            return True
        return False

    async def close(self) -> None:
        """End it at once."""
        await trio.aclose_forcefully(self._stream)


async def _connected(
    host: str, port: int, path: str | None, tls: bool | ssl.SSLContext
) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    if path is not None:
        return await trio.open_unix_socket(path)
    stream = await trio.open_tcp_stream(host, port)
    stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_KEEPALIVE, 1)
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
    """What went wrong, without trio's words for it; where a name has several addresses, what each of them said."""
    if isinstance(error, trio.TooSlowError):
        return "no answer in time"
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_reason(each) for each in error.exceptions)
    if error.__cause__ is not None:
        return _reason(error.__cause__)
    return getattr(error, "strerror", None) or str(error)
