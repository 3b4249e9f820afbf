"""The lobby's queries in a database when the daemon starts."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import msgspec
from sqlalchemy import Connection, and_, or_, select

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED
from gmd.games.events import AnyEvent

from .damage import note_damage
from .interface import Playing, Unanswered
from .tables import events, games

_SEATS = (games.c.player_white, games.c.player_black)
#: No index holds a computed value, so this forces the index by status, which finds few games; an index of players would
#: find very many.
HAS_REGISTERED = or_(*((seat + 0).between(FIRST_REGISTERED, LAST_REGISTERED) for seat in _SEATS))
_AWAITS_CONTACT = and_(games.c.status == "live", games.c.clocked, games.c.seconds_left.is_(None))

_PLAYING = select(games.c.game_id, *_SEATS).where(games.c.status == "live", HAS_REGISTERED)
_UNANSWERED = (
    select(games.c.game_id, events.c.event)
    .join(events, events.c.game_id == games.c.game_id)
    .where(or_(games.c.status == "open", _AWAITS_CONTACT), HAS_REGISTERED)
    .order_by(games.c.game_id, events.c.seq)
)

_events_decoder = msgspec.json.Decoder(list[AnyEvent])


def playing(connection: Connection) -> list[Playing]:
    """Return every live game of a registered player."""
    return [Playing(*found) for found in connection.execute(_PLAYING)]


def unanswered(connection: Connection) -> list[Unanswered]:
    """Return every game that waits for players; see :meth:`gmd.event_log.interface.EventLog.unanswered`."""
    waiting: list[Unanswered] = []
    for game_id, rows in groupby(connection.execute(_UNANSWERED), key=itemgetter(0)):
        texts = [text for _, text in rows]
        try:
            waiting.append(Unanswered(game_id, _events_decoder.decode(f"[{','.join(texts)}]")))
        except (msgspec.MsgspecError, TypeError) as error:  # TypeError: an event is not text
            note_damage(connection, events.name, f"of game {game_id}", str(error))
    return waiting
