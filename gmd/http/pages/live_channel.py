"""Readers of events, and the channels that all readers share who see the same.

A channel looks at what it shows once for each change, and encodes it once for all readers who are in step. A reader has
no queue: one that has fallen behind gets the latest state, with the moves since its own, when it can be sent to again.
Readers are sent to in portions, so that players do not wait for spectators.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from math import inf
from typing import Protocol

import trio

from gm_protocol.errors import GmError
from gmd.games.game_note import GameNote
from gmd.handlers.in_process import Refused
from gmd.http.streaming import Wire
from gmd.logger import get_logger
from gmd.play.fan_out import FanOut, Group
from gmd.play.watchers import Subscription

logger = get_logger(__name__)

#: Seconds between two comment lines to a reader, counted from its beginning, whatever else is sent.
HEARTBEAT_SECONDS = 15.0
HEARTBEAT = b":\n\n"
#: Seconds for which the latest content serves those who join: its clocks are that old at most.
FRESH_SECONDS = 0.25
#: What a stream begins with: milliseconds after which a browser connects again.
OPENING = b"retry: 3000\n\n"
#: The last event of a stream that has no more to say.
END = b"event: end\ndata: {}\n\n"
#: The event that tells a reader that the list of its own games has changed.
MINE = b"event: mine\ndata: {}\n\n"
#: Headers of all streams. Proxies are asked not to hold events back.
HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "vary": "Cookie",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
}


class Content(Protocol):
    """What a channel shows at one moment."""

    @property
    def number(self) -> int:
        """Grows with the time at which it was looked at."""

    @property
    def key(self) -> bytes:
        """Differs whenever the readers see another thing. Clocks that run on change nothing."""

    @property
    def at(self) -> float:
        """When it was looked at, in trio's time."""

    @property
    def ply(self) -> int | None:
        """The ply that a reader who has it is at; None where there are none."""

    @property
    def players(self) -> Collection[int | None]:
        """The players in the game's seats; empty where there is none."""

    @property
    def last(self) -> bool:
        """Whether nothing follows it."""

    def ready(self, since: int | None) -> bytes | None:
        """Return the event for readers at a ply, if it is encoded already."""

    async def event(self, since: int | None) -> bytes:
        """Return the event for readers at a ply.

        :raises Refused: it cannot be made any more.
        """


class Source(Protocol):
    """What a channel shows, and when it may have changed."""

    @property
    def player(self) -> int | None:
        """The player as whom it looks, from a seat; None for spectators."""

    @property
    def lists(self) -> bool:
        """Whether it shows lists of games in place of one."""

    def patience(self, readers: int) -> float:
        """Return the least number of seconds between two events.

        :param readers: how many readers all channels have.
        """

    async def look(self) -> Content:
        """Return what there is to show now.

        :raises Refused: nothing, from now on.
        """

    def topics(self, content: Content | None) -> Collection[int]:
        """Return the games whose changes may change it, as far as a content says."""

    def subscribed(self, topics: Collection[int]) -> AbstractContextManager[Subscription]:
        """Subscribe to changes of these games."""


class Reader:
    """A connection that reads events; it is the stream that the connection runs.

    :ivar channel: the channel that it reads; None before it has joined.
    :ivar plays: whether it reads from a seat.
    :ivar player: the visitor's player; None for none.
    :ivar cookie: the visitor's cookie; None for none.
    """

    __slots__ = (
        *("_beat", "_ended", "_first", "_join", "_key", "_may_read", "_number", "_owed", "_ply", "_rest", "_resting"),
        *("_sent_last", "_wire", "channel", "cookie", "player", "plays"),
    )

    def __init__(
        self,
        join: Callable[[Reader], AbstractContextManager[Channel]],
        may_read: Callable[[], bool],
        first: Content,
        since: int | None = None,
        *,
        player: int | None = None,
        cookie: str | None = None,
        plays: bool = False,
    ) -> None:
        """:param join: adds it to its channel while the context is open.
        :param may_read: returns whether its visitor still is who it was.
        :param first: what it is shown at once.
        :param since: the ply that it has been shown before; None for none.
        """
        self._join = join
        self._may_read = may_read
        self._first: Content | None = first
        self._ply = since
        self._number, self._key, self._sent_last = first.number, first.key, first.last
        self._rest: memoryview | None = None  # of an event that was sent in part
        self._owed = b""  # an event for this reader alone
        self._resting: trio.CancelScope | None = None  # while nothing is to be sent
        self._ended = False
        self._beat = inf  # when the next heartbeat is sent
        self._wire: Wire | None = None
        self.channel: Channel | None = None
        self.player = player
        self.cookie = cookie
        self.plays = plays

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response, beside those of its connection."""
        return HEADERS

    async def run(self, wire: Wire) -> None:
        """Send what there is to show, and each change of it, until the end."""
        self._beat, self._wire = trio.current_time() + HEARTBEAT_SECONDS, wire
        with self._join(self) as self.channel:
            assert self._first is not None
            first, self._first = self._first, None
            try:
                await wire.send(OPENING + await first.event(self._ply))
                self._ply = first.ply
                while await self._send_due(wire, self.channel):
                    with trio.CancelScope(deadline=self._beat) as self._resting:
                        await wire.gone()
                        return
                    self._resting = None
            except (Refused, GmError):
                return  # there is nothing to show any more

    async def _send_due(self, wire: Wire, channel: Channel) -> bool:
        """Send all that is ready; return whether there may be more later."""
        while not self._ended:
            content = channel.content
            if self._rest is not None:  # before anything else: it is the rest of an event
                rest, self._rest = self._rest, None
                await wire.send(rest)
            elif trio.current_time() >= self._beat:
                self._beat += HEARTBEAT_SECONDS
                self.check()
                await wire.send(HEARTBEAT)
            elif self._owed:
                owed, self._owed = self._owed, b""
                await wire.send(owed)
            elif content is not None and self.lacks(content):
                event = await content.event(self._ply)
                self._note(content)
                await wire.send(event)
            else:
                return not self._sent_last
        return False

    def push(self) -> None:
        """Send an event at once if nothing else is being sent; else the reader's task sends it."""
        content = None if self.channel is None else self.channel.content
        if content is None or not self.lacks(content):
            return
        event = content.ready(self._ply)
        if self._resting is None or self._wire is None or self._rest is not None or event is None:
            self.wake()
            return
        self._note(content)
        sent = self._wire.send_now(event)
        if sent < len(event):
            self._rest = memoryview(event)[sent:]
        if sent < len(event) or content.last:
            self.wake()

    def owe(self, event: bytes) -> None:
        """Send an event to this reader alone, as soon as it can be sent to."""
        self._owed = event
        self.wake()

    def check(self) -> None:
        """End the stream if its visitor is not who it was any more."""
        if not self._may_read():
            self.end()

    def end(self) -> None:
        """End the stream, in the middle of an event if need be."""
        self._ended = True
        self.wake()

    def wake(self) -> None:
        """Have it look for something to send."""
        if self._resting is not None:
            self._resting.cancel()

    def lacks(self, content: Content) -> bool:
        """Return whether a content is newer than what the reader was shown last, and says another thing."""
        return content.number > self._number and content.key != self._key

    def _note(self, content: Content) -> None:
        self._number, self._key, self._ply = content.number, content.key, content.ply
        self._sent_last = content.last


class Channel:
    """The readers of one source.

    :ivar key: says what it shows, and to which kind of viewer.
    :ivar group: the readers, to whom the content is sent.
    :ivar content: what it shows; None before its first look.
    :ivar looks: how often it has looked.
    """

    def __init__(
        self,
        key: Hashable,
        source: Source,
        deliver: Callable[[Group[Reader]], None],
        patience: Callable[[], float],
        drop: Callable[[Channel], None],
        turns: trio.StrictFIFOLock,
    ) -> None:
        """:param deliver: has the group notified.
        :param patience: returns the least number of seconds between two events.
        :param drop: called when nobody may join it any more.
        :param turns: channels of spectators look and encode one in each turn of the event loop.
        """
        self.key = key
        self.source = source
        self.group: Group[Reader] = Group(Reader.push)  # it knows no channel: old garbage is never collected
        self.content: Content | None = None
        self.looks = 0
        self._deliver = deliver
        self._patience = patience
        self._drop = drop
        self._turns = turns
        self._changed = -inf
        self._scope = trio.CancelScope()
        self._subscription: Subscription | None = None

    def shared(self, content: Content) -> Content:
        """Return what somebody who joins is shown: the channel's own content if it says the same and is fresh."""
        own = self.content
        if own is None or own.key != content.key:
            return content
        if own.at + FRESH_SECONDS < content.at:
            self.content = content
            return content
        return own

    async def run(self) -> None:
        """Look at each change and have it sent, until nobody reads or nothing can follow."""
        try:
            with self._scope:
                while await self._follow():
                    pass
        except (Refused, GmError):
            pass  # the readers connect again, and learn why
        except Exception:
            logger.exception("a channel of events failed")
        finally:
            is_last = self.content is not None and self.content.last
            self._drop(self)
            if not is_last:
                self.end()

    async def _follow(self) -> bool:
        """Follow the changes of the present topics; return whether there are others to follow."""
        topics = self.source.topics(self.content)
        with self.source.subscribed(topics) as subscription:
            self._subscription = subscription
            while not subscription.interrupted:
                subscription.forget()
                await self._look()
                assert self.content is not None
                if self.content.last:
                    return False
                if self.source.topics(self.content) != topics:
                    return True
                await subscription.wait()
                await trio.sleep_until(max(trio.current_time(), self._changed + self._patience()))
        return False

    async def _look(self) -> None:
        self.looks += 1
        await self._take_turn()
        content, before = await self.source.look(), self.content
        if before is not None and content.key != before.key:
            await self._take_turn()
            await content.event(before.ply)  # once for all who are in step
        self.content = content
        if before is None or content.key != before.key:
            self._changed = trio.current_time()
            if before is None or content.players != before.players:
                self._part_with_players(content)
        elif not any(reader.lacks(content) for reader in self.group):
            return  # else a reader lacks it whose own look began after the last one
        self._deliver(self.group)

    async def _take_turn(self) -> None:
        """Wait until no other channel has work in this turn of the event loop; a player's does not wait."""
        if self.source.player is None:
            async with self._turns:
                await trio.lowlevel.checkpoint()

    def _part_with_players(self, content: Content) -> None:
        """End the streams of spectators who have taken a seat: they come again, and see what players see."""
        if self.source.player is None:
            for reader in self.group:
                if reader.player is not None and reader.player in content.players:
                    reader.end()

    def notify(self) -> None:
        """Have it look: something may have changed."""
        if self._subscription is not None:
            self._subscription.notify()

    def stop(self) -> None:
        """Stop looking: nobody reads any more."""
        self._scope.cancel()

    def end(self) -> None:
        """End the streams of all readers."""
        for reader in self.group:
            reader.end()


#: The most readers that are sent to in one turn of the event loop: each takes about twenty microseconds, and a move may
#: wait for several turns.
PORTION = 4
#: Readers of a channel that are sent to before those of the next one.
AT_ONCE = 1


class LiveHub:
    """The channels that have readers."""

    def __init__(self) -> None:
        self._channels: dict[Hashable, Channel] = {}
        self._fan_out = FanOut(PORTION, AT_ONCE)
        self._nursery: trio.Nursery | None = None
        self._readers = 0
        self._turns = trio.StrictFIFOLock()

    @property
    def channels(self) -> int:
        """The number of channels with readers."""
        return len(self._channels)

    @property
    def readers(self) -> int:
        """The number of readers of all channels."""
        return self._readers

    @property
    def looks(self) -> int:
        """How often the present channels have looked."""
        return sum(channel.looks for channel in self._channels.values())

    async def run(self) -> None:
        """Run the channels, until cancelled."""
        async with trio.open_nursery() as self._nursery:
            await self._fan_out.run()

    @contextmanager
    def joined(self, key: Hashable, source: Source, reader: Reader) -> Iterator[Channel]:
        """Add a reader to the channel of a key, which is made if need be, while the context is open."""
        if (channel := self._channels.get(key)) is None:
            channel = self._opened(key, source)
        place = channel.group.add(reader)
        self._readers += 1
        try:
            yield channel
        finally:
            channel.group.remove(place)
            self._readers -= 1
            if not channel.group:
                channel.stop()
                self._drop(channel)

    def channel(self, key: Hashable) -> Channel | None:
        """Return the channel of a key, if it has readers."""
        return self._channels.get(key)

    def recheck(self, player: int) -> None:
        """End the streams of a player whose cookie is worth nothing any more."""
        for reader in self._all_readers():
            if reader.player == player:
                reader.check()

    def sign_out(self, cookie: str) -> None:
        """End the streams of a visitor who has signed out."""
        for reader in self._all_readers():
            if reader.cookie == cookie:
                reader.end()

    def seats_changed(self, game: GameNote) -> None:
        """Tell those who read lists of games that a game was created, joined or ended."""
        for channel in self._channels.values():
            if channel.source.lists:
                channel.notify()
                self._tell(channel, game.named)

    def _tell(self, channel: Channel, players: Collection[int | None]) -> None:
        for reader in channel.group:
            if reader.player is not None and reader.player in players:
                reader.owe(MINE)

    def _all_readers(self) -> Iterator[Reader]:
        for channel in self._channels.values():
            yield from channel.group

    def _opened(self, key: Hashable, source: Source) -> Channel:
        deliver, patience = self._fan_out.call, lambda: source.patience(self._readers)
        channel = Channel(key, source, deliver, patience, self._drop, self._turns)
        self._channels[key] = channel
        assert self._nursery is not None
        self._nursery.start_soon(channel.run)
        return channel

    def _drop(self, channel: Channel) -> None:
        """Let nobody join a channel any more."""
        if self._channels.get(channel.key) is channel:
            del self._channels[channel.key]
