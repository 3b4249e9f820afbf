"""A session shared by trio's tasks, under :mod:`gm_client.trio_client`."""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import Any, Self, Unpack

import trio

from .blocking import (
    DEFAULT_PORT,
    PATIENCE_SECONDS,
    Asked,
    BadReply,
    ConnectionLost,
    Conversation,
    GmError,
    HelloFields,
    Servers,
    Session,
    may_pass,
    tls_context,
)
from .trio_connection import Connection


class TrioSession(Session):
    """A session over changing connections. Requests are sent as they are made, and tasks wait for their replies."""

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
        """Take the arguments of :func:`gm_client.trio_client.connect`; connect with the first request."""
        self._servers, self._path, self._tls = Servers(host, port), path, tls_context(tls) if tls else False
        self._patience = patience
        self._conversation = Conversation(hello, patience)
        self._connection: Connection | None = None
        self._why: Exception | None = None  # why there is no connection
        self._closed = False
        self._busy = False  # a task is receiving or connecting, which only one can do at a time
        self._progress = trio.Event()  # set and replaced when that task has finished
        self._loops: set[TrioSession] = set()
        self._main: TrioSession | None = None  # the session that this one is a loop of
        self._trio: trio.lowlevel.TrioToken | None = None  # of the run in which it connects

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def open(self) -> None:
        """Connect, in one attempt at each server. Calling this is optional: a request connects.

        :raises ConnectionLost: the server cannot be reached.
        :raises GmError: the server refuses the hello.
        """
        if self._closed:
            raise ConnectionLost("the client was closed")
        if self._connection is not None:
            return
        self._trio = trio.lowlevel.current_trio_token()
        connecting, answering = self._servers.seconds
        errors: list[ConnectionLost | GmError] = []
        for address in self._servers:
            try:
                opened = await Connection.open(*address, self._path, self._tls, connecting)
                self._connection = await self._greeted(opened, answering)
                self._servers.answered(address)
                return
            except (ConnectionLost, GmError) as error:
                errors.append(error)
                if self._closed or not may_pass(error):
                    break
        raise self._servers.failure(errors)

    async def _greeted(self, connection: Connection, patience: float) -> Connection:
        """Say hello on a connection, and return it once the reply has come, within ``patience`` seconds."""
        try:
            await connection.send(self._conversation.greeting())
            self._conversation.greeted(await connection.receive(patience))
            if self._closed:
                raise ConnectionLost("the client was closed")
        except BaseException:
            await connection.close()
            raise
        return connection

    async def aclose(self) -> None:
        """End the session and its loops."""
        self._closed = True
        self._conversation.refuse(ConnectionLost("the client was closed"))
        self._wake()
        with trio.CancelScope(shield=True):  # nothing here blocks, and a cancelled task must close everything too
            for loop in list(self._loops):
                await loop.aclose()
            if self._connection is not None:
                await self._drop(self._connection, ConnectionLost("the client was closed"))

    async def request(self, kind: str, **fields: Any) -> Any:
        """Send a request of any kind, also one without a method here, and return the reply.

        :raises GmError: the server refuses it.
        :raises ConnectionLost: there is no connection.
        """
        return await self._result(self._ask(kind, **fields))

    def _ask(self, kind: str, **fields: Any) -> Asked:
        """Queue a request; it is sent when its reply, or a later one, is awaited."""
        if self._closed:
            raise ConnectionLost("the client was closed")
        return self._conversation.ask(kind, fields)

    async def _result(self, asked: Asked) -> Any:
        """Return the reply to a request.

        One of the waiting tasks receives for all of them; when it leaves, another takes its place.
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
        """Receive one reply, or do what is needed before: connect and send."""
        connection = self._connection
        if connection is None:
            return await self._connect_again()
        if not self._conversation.awaits_reply and await connection.is_over():
            return await self._drop(connection, ConnectionLost("the server closed the connection"))
        await self._send(connection)
        try:
            self._conversation.answered(
                await connection.receive(self._conversation.longest_wait + self._servers.silence)
            )
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
        except BaseException:  # part of it may have been sent
            await self._drop(connection, ConnectionLost("sending was cancelled"), failed=False)
            raise

    async def _drop(self, connection: Connection, error: Exception, *, failed: bool = True) -> None:
        """Close a connection because of an error. Another task may have done so before.

        :param failed: whether the server or the network has failed: it then has the patience's seconds to recover.
        """
        if connection is self._connection:
            self._connection, self._why = None, error if failed else None
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

        Loops could not share a connection: a ``wait`` ends when another request is sent after it.

        :raises ConnectionLost: this session is closed.
        """
        if self._closed:
            raise ConnectionLost("the client was closed")
        loop = type(self)(path=self._path, tls=self._tls, patience=self._patience)
        loop._servers, loop._conversation, loop._main = self._servers, self._conversation.again(), self
        self._loops.add(loop)
        return loop

    async def _leave(self) -> None:
        """Close the session of a loop, which the client that made it then forgets."""
        if self._main is not None:
            self._main._loops.discard(self)
        await self.aclose()

    def _abandon(self) -> None:
        """Close the session of a loop that no task uses. Call this from any thread, at any moment."""
        if self._main is not None:
            self._main._loops.discard(self)
        self._closed = True
        if self._connection is not None and self._trio is not None:
            with suppress(trio.RunFinishedError):
                self._trio.run_sync_soon(self._connection._abandon)
