"""The client of :mod:`gm_client.blocking` for trio: the same names, fields, replies and errors.

    async with await connect(player=1) as client:
        game_id = (await client.new_game(1, 2, variant="rbc"))["game_id"]
        async for turn in client.turns(game_id):
            await turn.sense(random.choice(turn.sense_actions))
            await turn.move(random.choice(turn.move_actions))

Tasks may share a client: requests leave as they are made, without waiting for the replies to those before. Where a task
is cancelled, its request is not sent again; it may have been carried out.
"""

from __future__ import annotations

import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Self, Unpack

import trio

from .blocking import (
    DEFAULT_PORT,
    GIVEN_UP,
    PATIENCE_SECONDS,
    SILENCE_SECONDS,
    Asked,
    BadReply,
    ConnectionLost,
    Conversation,
    Following,
    GameState,
    GmError,
    HelloFields,
    MoveReply,
    SenseReply,
    Square,
    StateReply,
    TurnsFields,
    TurnView,
    WaitReply,
    tls_context,
)
from .trio_connection import Connection
from .trio_kinds import Kinds


async def connect(
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    path: str | None = None,
    tls: bool | ssl.SSLContext = False,
    patience: float = PATIENCE_SECONDS,
    **hello: Unpack[HelloFields],
) -> Client:
    """Connect and say hello, once: see :func:`gm_client.blocking.connect`."""
    client = Client(host, port, path=path, tls=tls, patience=patience, **hello)
    await client.open()
    return client


class Client(Kinds):
    """A session, as :class:`gm_client.blocking.Client` is one."""

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
        """As :func:`connect`, but connects when the first request is made."""
        self._where = (host, port, path, tls_context(tls) if tls else False)
        self._patience = patience
        self._conversation = Conversation(hello, patience)
        self._connection: Connection | None = None
        self._why: Exception | None = None  # there is no connection
        self._closed = False
        self._busy = False  # some task does what one alone can do: receiving, or connecting
        self._progress = trio.Event()  # set and replaced when it has done so
        self._loops: set[Client] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # The session.

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

    # The loop.

    def turns(
        self,
        game_id: int | None = None,
        *,
        over: Callable[[GameState], object] | None = None,
        invited: Callable[[GameState], object] | None = None,
        **fields: Unpack[TurnsFields],
    ) -> Turns:
        """As :meth:`gm_client.blocking.Client.turns`, on a connection of its own, so that loops may run side by side.

        On one they would not: a ``wait`` ends when another request is sent behind it.
        """
        if self._closed:
            raise ConnectionLost("the client was closed")
        return Turns(self, Following(game_id, over, invited, fields))

    def _loop(self) -> Client:
        """A client for a loop, closed with this one."""
        host, port, path, tls = self._where
        client = Client(host, port, path=path, tls=tls, patience=self._patience)
        client._conversation = self._conversation.again()
        self._loops.add(client)
        return client


class Turns(AsyncIterator["Turn"]):
    """The loop of :meth:`Client.turns`."""

    def __init__(self, client: Client, following: Following) -> None:
        self._main = client
        self._client = client._loop()
        self._following = following
        self._waits: deque[Asked] = deque()  # the last one tells of the next turn, those before it only of ends
        self._ended = False

    async def __anext__(self) -> Turn:
        while not self._ended:
            reply = await self._next_reply()
            if self._following.ends(reply):
                self._ended = True
                await self.aclose()
            elif (invitation := self._following.takes_up(reply)) is not None:
                await self._join(invitation)
            elif self._following.unwanted is not None:
                await self._decline(self._following.unwanted)
            elif reply["state"] is not None and reply.get("move_actions") is not None:
                return Turn(self, reply)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Close its connection, before the client does that."""
        self._main._loops.discard(self._client)
        await self._client.aclose()

    async def _join(self, game_id: int) -> None:
        try:
            await self._client.join(game_id, **self._following.seat)
        except GmError as error:
            if error.code not in GIVEN_UP:
                raise

    async def _decline(self, game_id: int) -> None:
        self._following.unwanted = None
        try:
            await self._client.decline(game_id, **self._following.player)
        except GmError as error:
            if error.code not in GIVEN_UP:
                raise

    async def _next_reply(self) -> WaitReply:
        if not self._waits:
            self._wait_for_next()
        while self._waits:
            reply: WaitReply = await self._client._result(self._waits.popleft())
            self._following.see(reply["state"])
        return reply

    def _wait_for_next(self) -> None:
        self._waits.append(self._client._ask("wait", **self._following.wait))


class Turn(TurnView):
    """One turn of the player's, as :class:`gm_client.blocking.Turn` is one."""

    def __init__(self, turns: Turns, reply: WaitReply) -> None:
        super().__init__(reply)
        self._turns = turns

    async def sense(self, square: Square | None) -> SenseReply:
        """Sense around a square, or None for none."""
        reply = await self._result(self._ask("sense", square=square))
        self.sense_actions = []
        return {"sense_result": [], **reply}  # type: ignore[typeddict-item]

    async def move(self, move: str | None, *, offer_draw: bool = False) -> MoveReply:
        """Move, or None to pass; the turn is over then. Outside of blind chess ``taken_move`` is None."""
        asked = self._ask("move", move=move, **({"offer_draw": True} if offer_draw else {}))
        self._turns._wait_for_next()  # leaves in one write with the move
        reply = await self._result(asked)
        return {"requested_move": move, "taken_move": None, "capture_square": None, **reply}  # type: ignore[typeddict-item]

    async def end_game(self, termination: str) -> StateReply:
        """Take a draw, or agree to one."""
        return await self._result(self._ask("end_game", termination=termination))  # type: ignore[return-value]

    async def resign(self) -> StateReply:
        """Give the game up."""
        return await self.end_game(f"resignation_{self.color}")

    def _ask(self, kind: str, **fields: Any) -> Asked:
        seat = self._turns._following.seat
        return self._turns._client._ask(kind, game_id=self.game_id, **seat, **fields, ply=self.ply)

    async def _result(self, asked: Asked) -> dict[str, Any]:
        client, following = self._turns._client, self._turns._following
        try:
            reply: dict[str, Any] = await client._result(asked)
        except GmError as error:
            if error.code != "game_over":
                raise
            reply = await client.request("state", game_id=self.game_id, **following.seat)
        self.state = reply["state"]
        following.see(self.state)
        return reply
