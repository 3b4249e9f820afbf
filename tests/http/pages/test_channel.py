"""Channels of events, without connections: who is sent what."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf

import trio
from trio.testing import wait_all_tasks_blocked

from gmd.http.pages.live_channel import Channel, Content, Reader
from gmd.play.fan_out import Group
from gmd.play.watchers import Subscription


@dataclass
class Shown:
    """A content."""

    number: int
    key: bytes
    at: float = -inf
    ply: int | None = None
    players: Collection[int | None] = ()
    last: bool = False

    def ready(self, since: int | None) -> bytes | None:
        return self.key

    async def event(self, since: int | None) -> bytes:
        return self.key


@dataclass
class Script:
    """A source whose looks return given contents, one after another."""

    contents: list[Shown]
    subscription: Subscription = field(default_factory=Subscription)
    player: int | None = 1
    lists: bool = False

    def patience(self, readers: int) -> float:
        return 0.0

    async def look(self) -> Content:
        return self.contents.pop(0)

    def topics(self, content: Content | None) -> Collection[int]:
        return (1,)

    @contextmanager
    def subscribed(self, topics: Collection[int]) -> Iterator[Subscription]:
        yield self.subscription


async def test_reader_gets_a_change_that_the_channel_saw_in_a_look_begun_before_the_readers_own() -> None:
    source = Script([Shown(1, b"old"), Shown(2, b"new"), Shown(4, b"new")])
    called: list[int] = []

    def deliver(group: Group[Reader]) -> None:
        called.append(len(group))

    channel = Channel("key", source, deliver, lambda: 0.0, lambda _: None, trio.StrictFIFOLock())

    @contextmanager
    def join(reader: Reader) -> Iterator[Channel]:
        yield channel

    async with trio.open_nursery() as nursery:
        nursery.start_soon(channel.run)
        await wait_all_tasks_blocked()
        channel.group.add(Reader(join, lambda: True, Shown(3, b"old")))  # its look began after the channel's
        source.subscription.notify()
        await wait_all_tasks_blocked()
        assert called == [0, 1]
        source.subscription.notify()  # by the change itself
        await wait_all_tasks_blocked()
        assert called == [0, 1, 1]
        channel.stop()
