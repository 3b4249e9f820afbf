"""All channels of events. It sends to their readers in portions, so that players do not wait for spectators."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager

import trio

from gmd.games.game_note import GameNote

from .live_channel import MINE, Channel, Reader, Source

#: The most readers that are sent to in one turn of the event loop: each takes about twenty microseconds, and a move may
#: wait for several turns.
PORTION = 4
#: Readers of a channel that are sent to before those of the next one.
AT_ONCE = 1


class LiveHub:
    """The channels that have readers."""

    def __init__(self) -> None:
        self._channels: dict[Hashable, Channel] = {}
        self._called: deque[Channel] = deque()
        self._some = trio.Event()
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
            while True:
                if not self._called:
                    self._some = trio.Event()
                    await self._some.wait()
                self._send_portion()
                await trio.lowlevel.checkpoint()

    @contextmanager
    def joined(self, key: Hashable, source: Source, reader: Reader) -> Iterator[Channel]:
        """Add a reader to the channel of a key, which is made if need be, while the context is open."""
        if (channel := self._channels.get(key)) is None:
            channel = self._opened(key, source)
        channel.readers[reader] = None
        self._readers += 1
        try:
            yield channel
        finally:
            del channel.readers[reader]
            self._readers -= 1
            if not channel.readers:
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
        for reader in channel.readers:
            if reader.player is not None and reader.player in players:
                reader.owe(MINE)

    def _all_readers(self) -> Iterator[Reader]:
        for channel in self._channels.values():
            yield from channel.readers

    def _opened(self, key: Hashable, source: Source) -> Channel:
        channel = Channel(key, source, self._deliver, lambda: source.patience(self._readers), self._drop, self._turns)
        self._channels[key] = channel
        assert self._nursery is not None
        self._nursery.start_soon(channel.run)
        return channel

    def _drop(self, channel: Channel) -> None:
        """Let nobody join a channel any more."""
        if self._channels.get(channel.key) is channel:
            del self._channels[channel.key]

    def _deliver(self, channel: Channel) -> None:
        """Queue a channel whose readers are to be sent to."""
        if channel not in self._called:
            self._called.append(channel)
            self._some.set()

    def _send_portion(self) -> None:
        left = PORTION
        while left > 0 and self._called:
            channel = self._called.popleft()
            left -= channel.send_some(min(left, AT_ONCE))
            if channel.called:
                self._called.append(channel)
