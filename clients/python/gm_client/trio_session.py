"""A session that trio's tasks may share: what :mod:`gm_client.trio_client` asks with."""

from __future__ import annotations

import ssl
from typing import Any, Self, Unpack

import trio

from .blocking import (
    DEFAULT_PORT,
    PATIENCE_SECONDS,
    SILENCE_SECONDS,
    Asked,
    BadReply,
    ConnectionLost,
    Conversation,
    GmError,
    HelloFields,
    Session,
    tls_context,
)
from .trio_connection import Connection


class TrioSession(Session):
    """A session on connections that come and go. Requests leave as they are made, and tasks wait for their replies."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        path: str | None = None,
        tls: bool | ssl.SSLContext = False,
        patience: float = PATIENCE_SECONDS,
        **hello: Unpack[HelloFields],
    ) -> None:
        """As :func:`gm_client.trio_client.connect`, but connects when the first request is made."""
        self._where = (host, port, path, tls_context(tls) if tls else False)
        self._patience = patience
        self._conversation = Conversation(hello, patience)
        self._connection: Connection | None = None
        self._why: Exception | None = None  # there is no connection
        self._closed = False
        self._busy = False  # some task does what one alone can do: receiving, or connecting
        self._progress = trio.Event()  # set and replaced when it has done so
        self._loops: set[TrioSession] = set()
        self._main: TrioSession | None = None  # whose loop this one is

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def open(self) -> None:
        """Make one attempt to connect. Nobody needs to call it: a request connects.

        :raises ConnectionLost: there is no server.
        :raises GmError: the server refuses.
        """
        if self._closed:
            raise ConnectionLost("the client was closed")
        if self._connection is not None:
            return
        connection = await Connection.open(*self._where)
        try:
            await connection.send(self._conversation.greeting())
            self._conversation.greeted(await connection.receive(SILENCE_SECONDS))
            if self._closed:
                raise ConnectionLost("the client was closed")
        except BaseException:
            await connection.close()
            raise
        self._connection = connection

    async def aclose(self) -> None:
        """End the session, and its loops."""
        self._closed = True
        self._conversation.refuse(ConnectionLost("the client was closed"))
        self._wake()
        with trio.CancelScope(shield=True):  # nothing here waits, and a cancelled task is to close all of it, too
            for loop in list(self._loops):
                await loop.aclose()
            if self._connection is not None:
                await self._drop(self._connection, ConnectionLost("the client was closed"))

    async def request(self, kind: str, **fields: Any) -> Any:
        """A request of any kind, for those that have no method here; the reply.

        :raises GmError: the server refuses it.
        :raises ConnectionLost: there is no connection.
        """
        return await self._result(self._ask(kind, **fields))

    def _ask(self, kind: str, **fields: Any) -> Asked:
        """A request, which leaves when it or a later one is waited for."""
        if self._closed:
            raise ConnectionLost("the client was closed")
        return self._conversation.ask(kind, fields)

    async def _result(self, asked: Asked) -> Any:
        """The reply to a request.

        Whoever waits for one receives for all: one task at a time, and when it leaves another takes its place.
        """
        try:
            while not asked.settled:
                if self._busy:
                    await self._follow(asked)
                else:
                    await self._lead()
        except BaseException:  # such as a Cancelled
            self._conversation.abandon(asked)
            raise
        return asked.result()

    async def _follow(self, asked: Asked) -> None:
        if self._connection is not None:
            await self._send(self._connection)
        if self._busy and not asked.settled:
            await self._progress.wait()

    async def _lead(self) -> None:
        self._busy = True
        try:
            await self._step()
        finally:
            self._busy = False
            self._wake()

    def _wake(self) -> None:
        self._progress.set()
        self._progress = trio.Event()

    async def _step(self) -> None:
        """Get one reply, or what is needed for it."""
        connection = self._connection
        if connection is None:
            return await self._connect_again()
        if not self._conversation.awaits_reply and await connection.is_over():
            return await self._drop(connection, ConnectionLost("the server closed the connection"))
        await self._send(connection)
        try:
            self._conversation.answered(await connection.receive(self._conversation.silence))
        except (ConnectionLost, BadReply) as error:
            await self._drop(connection, error)

    async def _send(self, connection: Connection) -> None:
        bodies = self._conversation.unsent()
        if not bodies:
            return
        try:
            await connection.send(*bodies)
        except ConnectionLost as error:
            await self._drop(connection, error)
        except BaseException:  # some of it may have left
            await self._drop(connection, ConnectionLost("sending was cancelled"))
            raise

    async def _drop(self, connection: Connection, error: Exception) -> None:
        """A connection is of no use any more, for a reason. Other tasks may have found that before."""
        if connection is self._connection:
            self._connection, self._why = None, error
            self._conversation.lost(error)
            self._wake()
        await connection.close()

    async def _connect_again(self) -> None:
        pause = self._conversation.pause(self._why, trio.current_time())
        if pause is None:
            self._why = None  # the next request tries again
            return
        await trio.sleep(pause)
        try:
            await self.open()
        except (ConnectionLost, GmError, BadReply) as error:
            self._why = error

    def _loop(self) -> Self:
        """Return a session for a loop of turns, which is closed with this one.

        On one connection loops could not run side by side: a ``wait`` ends when another request is sent behind it.

        :raises ConnectionLost: this one is closed.
        """
        if self._closed:
            raise ConnectionLost("the client was closed")
        host, port, path, tls = self._where
        loop = type(self)(host, port, path=path, tls=tls, patience=self._patience)
        loop._conversation, loop._main = self._conversation.again(), self
        self._loops.add(loop)
        return loop

    async def _leave(self) -> None:
        """Close the session of a loop, before the one that it was made of is closed."""
        if self._main is not None:
            self._main._loops.discard(self)
        await self.aclose()
