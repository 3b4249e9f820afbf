"""One request to a daemon, and its cost: the lines that run, or the processor time.

The cost includes all that the daemon does from the request's bytes to the reply's bytes, without sending and receiving.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from types import FrameType
from typing import Any

import trio

from gm_protocol.codec import decode_request
from gmd.handlers import dispatch
from gmd.handlers.context import ClientSession
from gmd.play.watchers import Subscription
from tests.helpers import Json, MemoryDaemon


class Server:
    """A daemon in memory that answers requests without a session's connection.

    :ivar cost: the latest request's processor time in nanoseconds.
    :ivar steps: the lines that it ran, where :attr:`tracing` is set: file, function, line.
    """

    def __init__(self, daemon: MemoryDaemon) -> None:
        self._services = daemon.services
        self.tracing = False
        self.steps: list[str] = []
        self.cost = 0

    async def ask(self, kind: str, player: int | None = None, **fields: Any) -> Json:
        """Return the reply to one request."""
        body = json.dumps({"kind": kind, "player": player, **fields}).encode()
        client = ClientSession(self._services, attending=_nobody_waits)
        arrived = trio.current_time()
        with self._measured():
            pending = await dispatch.answer(decode_request(body, strict=True), client, arrived)
        reply: Json = json.loads(pending.body)
        return reply

    async def act(self, kind: str, player: int | None = None, **fields: Any) -> Json:
        """Return the reply to a request that must succeed."""
        reply = await self.ask(kind, player, **fields)
        assert reply["error"] is None, (kind, fields, reply)
        return reply

    @contextmanager
    def _measured(self) -> Iterator[None]:
        self.steps = []
        before = sys.gettrace()
        if self.tracing:
            sys.settrace(self._enter)
        begun = time.thread_time_ns()
        try:
            yield
        finally:
            self.cost = time.thread_time_ns() - begun
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        code = frame.f_code
        if code is not _EXIT:
            where = f"{code.co_filename.rpartition('/')[2]}:{code.co_name}"
            self.steps.append(where)
            return self._step
        return self._enter

    def _step(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        if event == "line":
            self.steps.append(f"{frame.f_code.co_name}:{frame.f_lineno}")
        return self._step


_EXIT = Server._measured.__code__


def _nobody_waits(subscription: Subscription) -> AbstractAsyncContextManager[None]:
    raise AssertionError("no request here is to wait")
