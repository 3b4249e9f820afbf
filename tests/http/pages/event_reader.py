"""A reader of server-sent events, over a bare connection."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.daemon import Daemon
from gmd.http.pages.live_channel import LiveHub
from gmd.http.pages.visitor import COOKIE
from tests.helpers import Json
from tests.http.helpers import open_http
from tests.http.pages.browser import Browser, pages

#: A comment, as heartbeats are.
COMMENT = b":"


@dataclass(frozen=True)
class Event:
    """An event: its name ("message" where it has none), its id, and its data."""

    name: str
    id: str
    data: Any


class EventReader:
    """A connection that reads events.

    :ivar head: the response's head.
    :ivar received: all bytes after the head.
    """

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.head = b""
        self.received = b""
        self._unread = b""

    async def begin(self) -> None:
        """Read the head of the response."""
        while b"\r\n\r\n" not in self._unread:
            await self._more()
        self.head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        self.received = self._unread

    async def block(self) -> bytes:
        """Return the next block of lines.

        :raises EOFError: the server has ended the stream.
        """
        while b"\n\n" not in self._unread:
            await self._more()
        block, _, self._unread = self._unread.partition(b"\n\n")
        return block

    async def event(self) -> Event:
        """Return the next event; comments and the time to reconnect are left out."""
        while (block := await self.block()).startswith((COMMENT, b"retry:")):
            pass
        fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
        return Event(fields.get("event", "message"), fields.get("id", ""), json.loads(fields["data"]))

    async def state(self) -> Json:
        """Return the data of the next event, which shows a game."""
        event = await self.event()
        assert event.name == "message"
        data: Json = event.data
        assert event.id == str(data["seq"])
        return data

    async def to_end(self) -> bytes:
        """Return everything until the server ends the stream."""
        try:
            while True:
                await self._more()
        except EOFError:
            return self._unread

    async def drained(self) -> bytes:
        """Return the bytes that have come by the time when nothing happens any more."""
        await wait_all_tasks_blocked()
        assert isinstance(self.stream, trio.SocketStream)
        while True:
            try:
                data = os.read(self.stream.socket.fileno(), 1 << 20)
            except BlockingIOError:
                data = b""
            if not data:
                break
            self._unread += data
        drained, self._unread = self._unread, b""
        self.received += drained
        return drained

    async def _more(self) -> None:
        data = bytes(await self.stream.receive_some(1 << 20))
        if not data:
            raise EOFError
        self.received += data
        self._unread += data


def live(daemon: Daemon) -> LiveHub:
    """Return a daemon's channels of events."""
    assert daemon.http is not None
    assert daemon.http.site is not None
    return daemon.http.site.live


def cookie_of(daemon: Daemon, player: int | None, *, oversees: bool = False) -> str:
    """Return a visitor's cookie."""
    assert daemon.http is not None
    assert daemon.http.site is not None
    return daemon.http.site.sessions.issue(player, oversees=oversees)


@asynccontextmanager
async def pages_at_rest(clock: MockClock, **settings: Any) -> AsyncIterator[tuple[Daemon, Browser]]:
    """Yield a daemon with pages for which time passes only where the test lets it jump."""
    async with pages(**settings) as both:
        clock.rate = 0.0
        try:
            yield both
        finally:
            clock.rate = 1.0  # connections linger for a moment before they are closed


@asynccontextmanager
async def reading(
    daemon: Daemon, path: str, cookie: str | None = None, last: str | None = None
) -> AsyncIterator[EventReader]:
    """Read the events of an address.

    :param cookie: the visitor's cookie; None for none.
    :param last: the value of Last-Event-ID; None for none.
    """
    async with await open_http(daemon) as stream:
        yield await begun(stream, path, cookie, last)


async def begun(stream: trio.abc.Stream, path: str, cookie: str | None = None, last: str | None = None) -> EventReader:
    """Request events on a connection, and read the head of the response."""
    lines = [f"GET {path} HTTP/1.1", "Host: here", "Accept: text/event-stream"]
    if cookie is not None:
        lines.append(f"Cookie: {COOKIE}={cookie}")
    if last is not None:
        lines.append(f"Last-Event-ID: {last}")
    await stream.send_all("\r\n".join([*lines, "", ""]).encode())
    reader = EventReader(stream)
    await reader.begin()
    return reader


async def until_readers(daemon: Daemon, number: int) -> None:
    """Return once so many read events."""
    while live(daemon).readers != number:
        await wait_all_tasks_blocked()
