"""Streams of events in a cluster: those that this daemon makes, and those that it passes on.

Both end when what they show has another owner, so that the browser connects again and reads on from there: the numbers
of events follow from what the viewer sees, and are the same at each owner.
"""

from __future__ import annotations

from collections.abc import Mapping

import trio

from gmd.http.streaming import Stream, Wire

from .origin import PLAYS
from .proxy import Answer
from .watch import Watch


class OwnedStream:
    """A stream of this daemon's, while it owns what it shows."""

    def __init__(self, stream: Stream, watch: Watch, shard: int, owner: int, *, for_daemon: bool) -> None:
        """:param for_daemon: whether another daemon passes it on."""
        self.plays = stream.plays
        self._stream = stream
        self._watch = watch
        self._shard = shard
        self._owner = owner
        self._for_daemon = for_daemon

    @property
    def headers(self) -> Mapping[str, str]:
        """The stream's headers; for another daemon, also whether its reader plays."""
        if self._for_daemon and self.plays:
            return {**self._stream.headers, PLAYS.decode(): "1"}
        return self._stream.headers

    async def run(self, wire: Wire) -> None:
        """Send events until the end, until the client has gone, or until the owner changes."""
        with self._watch.stream(self._shard, self._owner):
            await self._stream.run(wire)

    def close(self) -> None:
        """Release what the stream holds."""
        self._stream.close()


class PassedStream:
    """A stream of another daemon's, whose bytes are passed on as they come."""

    def __init__(self, answer: Answer, watch: Watch) -> None:
        answer.connection.bound_buffer()
        self.plays = answer.plays
        self._answer = answer
        self._watch = watch

    @property
    def headers(self) -> Mapping[str, str]:
        """The owner's headers."""
        return {name.decode(): value.decode("latin-1") for name, value in self._answer.headers}

    async def run(self, wire: Wire) -> None:
        """Pass bytes on until either side ends, or until the owner changes.

        :raises trio.BrokenResourceError: the client is gone.
        :raises trio.TooSlowError: the client reads too slowly.
        """
        failure: Exception | None = None
        with self._watch.stream(self._answer.shard, self._answer.connection.daemon):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._until_gone, wire, nursery.cancel_scope)
                try:
                    await self._pass_on(wire)
                except (trio.BrokenResourceError, trio.TooSlowError) as error:
                    failure = error
                nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Close the connection to the owner, which ends the stream there."""
        self._answer.connection.close()

    async def _pass_on(self, wire: Wire) -> None:
        """Pass bytes on; a piece waits until the client has read the one before it."""
        while True:
            try:
                data = await self._answer.connection.piece()
            except trio.BrokenResourceError:
                return  # the owner is gone: the browser connects again
            if not data:
                return
            await wire.send(data)

    @staticmethod
    async def _until_gone(wire: Wire, scope: trio.CancelScope) -> None:
        await wire.gone()
        scope.cancel()
