"""What the events of the home page show: its lists of games."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

import msgspec
import trio

from gmd import loop_time
from gmd.watchers import Subscription

from .home_view import GameLine, Lists, lists_view
from .live_channel import Content
from .live_game import number
from .rendering import part
from .visit import Visit

#: Seconds between two events: so many for each reader that there is, and these at least.
SECONDS_A_READER, LEAST_SECONDS = 0.001, 2.0


@dataclass(slots=True)
class ListsContent:
    """The lists at one moment, and the event that says them."""

    visit: Visit
    lists: Lists
    number: int
    key: bytes = field(init=False)
    at: float = field(default_factory=trio.current_time)
    ply: int | None = None
    players: Collection[int | None] = ()
    last: bool = False
    _event: bytes | None = None

    def __post_init__(self) -> None:
        self.key = b"".join(msgspec.json.encode(_timeless(line)) for _, lines in self.lists.named() for line in lines)

    def ready(self, _since: int | None) -> bytes | None:
        """Return the event, if it is encoded already."""
        return self._event

    async def event(self, _since: int | None) -> bytes:
        """Return the event."""
        if self._event is None:
            html = {
                name: part(self.visit.site, "home_list.html", name=name, lines=lines)
                for name, lines in self.lists.named()
            }
            tag = hashlib.sha256(self.key).hexdigest()[:16]
            self._event = b"id: %b\nevent: lists\ndata: %b\n\n" % (tag.encode(), msgspec.json.encode(html))
        return self._event


def _timeless(line: GameLine) -> GameLine:
    """Return a line without the time on its clocks."""
    return replace(line, white=replace(line.white, seconds=None), black=replace(line.black, seconds=None))


@dataclass(frozen=True, slots=True)
class ListsSource:
    """The lists as one kind of spectator sees them.

    :ivar visit: a visit of such a spectator.
    """

    visit: Visit
    player: int | None = None
    lists: bool = True

    @property
    def key(self) -> Hashable:
        """The kind of viewer."""
        return "lists", self.visit.oversees

    def patience(self, readers: int) -> float:
        """Return the least number of seconds between two events."""
        return max(LEAST_SECONDS, SECONDS_A_READER * readers)

    async def look(self) -> Content:
        """Return the lists as they are now.

        :raises Refused: the daemon is stopping.
        """
        now = number()
        return ListsContent(self.visit, await lists_view(replace(self.visit, arrived=loop_time.now())), now)

    def topics(self, content: Content | None) -> Collection[int]:
        """Return the games in the lists that are not over."""
        if not isinstance(content, ListsContent):
            return ()
        return {line.game_id for lines in (content.lists.live, content.lists.offered) for line in lines}

    def subscribed(self, topics: Collection[int]) -> AbstractContextManager[Subscription]:
        """Subscribe to changes of these games. Games that begin are announced by the hub."""
        return self.visit.backend.services.arbiter.watchers.spectating(topics)
