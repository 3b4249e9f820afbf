"""``/games/7/events`` and ``/events``: server-sent events of a game, and of the home page's lists."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Annotated, Any

import chess
import msgspec
import trio
from litestar import Request, get
from litestar.params import PathParameter

from gm_protocol.state import COLOR_NAMES, Color
from gmd.http.backend import Backend
from gmd.http.pages.answers import ERRORS, read_query
from gmd.http.pages.home import ListedGame, Lists, lists_view
from gmd.http.pages.live_channel import END, Channel, Content, Reader
from gmd.http.pages.live_view import STAGES, key_of, payload, seq_of
from gmd.http.pages.looking import Look, look_live
from gmd.http.pages.rendering import part
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.pages.visitor import COOKIE, NOBODY, Sessions, Visitor
from gmd.http.streaming import Streamed
from gmd.net import loop_time
from gmd.play.watchers import Subscription
from gmd.players.presence import Attendance

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


#: Seconds between two events: so many for each reader that there is, and these at least.
LIST_SECONDS_A_READER, LEAST_LIST_SECONDS = 0.001, 2.0


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
            html["featured"] = part(self.visit.site, "featured.html", featured=self.lists.featured)
            tag = hashlib.sha256(self.key).hexdigest()[:16]
            self._event = b"id: %b\nevent: lists\ndata: %b\n\n" % (tag.encode(), msgspec.json.encode(html))
        return self._event


def _timeless(line: ListedGame) -> ListedGame:
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
        return max(LEAST_LIST_SECONDS, LIST_SECONDS_A_READER * readers)

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


#: Numbers of events and plies that are believed; anything else counts as left out.
_SEQ, _PLY = re.compile(r"[0-9]{1,15}", re.ASCII), re.compile(r"[0-9]{1,9}", re.ASCII)


@get("/games/{game_id:int}/events", include_in_schema=False, exception_handlers=ERRORS)
async def game_events(
    request: Request[Any, Any, Any], visit: FromVisit, game_id: Annotated[int, PathParameter()]
) -> Streamed:
    """Send a game's state as the visitor sees it, and again at each change, until it is over."""
    now = number()
    look = await look_live(visit, game_id, read_query(request).seat)
    source = _source_of(visit, look)
    first = GameContent(source.visit, look, now)
    return Streamed(_reader(request, visit, source, first, since=_since(request, look)))


@get("/events", include_in_schema=False, exception_handlers=ERRORS)
async def list_events(request: Request[Any, Any, Any], visit: FromVisit) -> Streamed:
    """Send the home page's lists of games, and again at each change."""
    source = ListsSource(spectator(visit.backend, oversees=visit.oversees))
    channel = visit.site.live.channel(source.key)
    first = None if channel is None else channel.content
    return Streamed(_reader(request, visit, source, first or await source.look()))


def _source_of(visit: Visit, look: Look) -> GameSource:
    """Return what a visitor sees of a game: its seat's view, or what all spectators of its kind see."""
    if look.seat is not None:
        return GameSource(visit, look.state.game_id, look.seat)
    return GameSource(spectator(visit.backend, oversees=visit.oversees), look.state.game_id, None)


def _reader(
    request: Request[Any, Any, Any],
    visit: Visit,
    source: GameSource | ListsSource,
    first: Content,
    since: int | None = None,
) -> Reader:
    """Return a stream that shows a source to a visitor."""
    cookie = None if visit.visitor == NOBODY else request.cookies.get(COOKIE)
    channel = visit.site.live.channel(source.key)
    return Reader(
        partial(_joined, visit, source),
        partial(_is_still, visit.site.sessions, cookie, visit.visitor),
        first if channel is None else channel.shared(first),
        since,
        player=visit.player,
        cookie=cookie,
        plays=source.player is not None,
    )


@contextmanager
def _joined(visit: Visit, source: GameSource | ListsSource, reader: Reader) -> Iterator[Channel]:
    """Add a reader to its channel while the context is open; a registered player is present at its game meanwhile."""
    attendance = Attendance(visit.backend.services.authenticator.presence)
    if reader.plays and visit.visitor.authenticated is not None:
        attendance.enter(visit.visitor.authenticated)
    try:
        with visit.site.live.joined(source.key, source, reader) as channel:
            yield channel
    finally:
        attendance.leave()


def _is_still(sessions: Sessions, cookie: str | None, visitor: Visitor) -> bool:
    return sessions.read(cookie) == visitor


def _since(request: Request[Any, Any, Any], look: Look) -> int | None:
    """Return the ply that a reader was shown last; None if it says none, or none that the game has had."""
    if (seq := _SEQ.fullmatch(request.headers.get("last-event-id", ""))) is not None:
        ply = int(seq[0]) // STAGES
    elif (given := _PLY.fullmatch(request.query_params.get("since", ""))) is not None:
        ply = int(given[0])
    else:
        return None
    return ply if ply <= look.state.ply_index else None
