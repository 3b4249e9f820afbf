"""What the events of a game show, to each kind of viewer."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import count

import chess
import trio

from gm_protocol.state import COLOR_NAMES, Color
from gmd import loop_time
from gmd.http.backend import Backend
from gmd.watchers import Subscription

from .live_channel import END, Content
from .live_payload import key_of, payload, seq_of
from .looking import Look, look_live
from .visit import Visit
from .visitor import Visitor

#: Seconds between two events to a spectator: so many for each reader that there is, which bounds the events a second
#: of all of them, and these at least. A player is sent each change of its game at once.
SECONDS_A_READER, LEAST_SECONDS = 0.0002, 0.1
#: The most different beginnings of events that are kept encoded.
MOST_KEPT = 8

#: Numbers looks in the order in which they begin.
number = count(1).__next__


@dataclass(slots=True)
class GameContent:
    """A game at one moment, and the events that say it, encoded once for readers who are at the same ply."""

    visit: Visit
    look: Look
    number: int
    key: bytes = field(init=False)
    at: float = field(default_factory=trio.current_time)
    _events: dict[int | None, bytes] = field(default_factory=dict)
    _encoding: trio.Lock = field(default_factory=trio.Lock)

    def __post_init__(self) -> None:
        self.key = key_of(self.look)

    @property
    def ply(self) -> int:
        """The ply at which it shows the game."""
        return self.look.state.ply_index

    @property
    def players(self) -> Collection[int | None]:
        """The players in the seats."""
        return self.look.state.player_white, self.look.state.player_black

    @property
    def last(self) -> bool:
        """Whether the game is over."""
        return self.look.over

    def ready(self, since: int | None) -> bytes | None:
        """Return the event with the moves after a ply, if it is encoded already."""
        return self._events.get(since)

    async def event(self, since: int | None) -> bytes:
        """Return the event with the moves after a ply.

        :raises Refused: the game is gone.
        """
        async with self._encoding:
            if (event := self._events.get(since)) is None:
                body = payload(self.visit, self.look, since)
                event = b"id: %d\ndata: %b\n\n" % (seq_of(self.look), body) + (END if self.last else b"")
                if len(self._events) < MOST_KEPT:
                    self._events[since] = event
        return event


@dataclass(frozen=True, slots=True)
class GameSource:
    """A game as one kind of viewer sees it.

    :ivar visit: a visit of that kind: of a spectator, or of the player of the seat.
    :ivar seat: the seat that is looked from; None for spectators.
    """

    visit: Visit
    game_id: int
    seat: chess.Color | None
    lists: bool = False

    @property
    def player(self) -> int | None:
        """The player as whom it looks, from a seat; None for spectators."""
        return self.visit.player

    @property
    def key(self) -> Hashable:
        """The kind of viewer, and the game."""
        return self.game_id, self.seat, self.visit.player, self.seat is None and self.visit.oversees

    def patience(self, readers: int) -> float:
        """Return the least number of seconds between two events."""
        return 0.0 if self.seat is not None else max(LEAST_SECONDS, SECONDS_A_READER * readers)

    async def look(self) -> Content:
        """Return the game as it is now.

        :raises Refused: the viewer may not look any more, or the game is gone.
        """
        now = number()
        visit = replace(self.visit, arrived=loop_time.now())
        seat: Color | None = None if self.seat is None else COLOR_NAMES[self.seat]
        return GameContent(self.visit, await look_live(visit, self.game_id, seat), now)

    def topics(self, _content: Content | None) -> Collection[int]:
        """Return the game."""
        return (self.game_id,)

    def subscribed(self, topics: Collection[int]) -> AbstractContextManager[Subscription]:
        """Subscribe to the changes that the viewer may know of."""
        watchers = self.visit.backend.services.arbiter.watchers
        if self.seat is not None:
            return watchers.watching_seat(self.game_id, self.seat)
        return watchers.overseeing(self.game_id) if self.visit.oversees else watchers.spectating(topics)


def spectator(backend: Backend, *, oversees: bool) -> Visit:
    """Return the visit in whose name a channel of spectators looks: without a player or an address."""
    return Visit(backend, Visitor(oversees=oversees), "", loop_time.now(), False)
