"""``/games/7/events`` and ``/events``: server-sent events, which a page in a browser follows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

from litestar import Request, get
from litestar.params import PathParameter

from gmd.http.streaming import Streamed
from gmd.players.presence import Visit as Attendance

from .answers import ERRORS, read_query
from .live_channel import Channel, Content, Reader
from .live_game import GameContent, GameSource, number, spectator
from .live_lists import ListsSource
from .live_payload import STAGES
from .looking import Look, look_live
from .visit import FromVisit, Visit
from .visitor import COOKIE, NOBODY, Sessions, Visitor

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
