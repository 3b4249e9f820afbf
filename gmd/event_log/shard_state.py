"""What a daemon reads of shards of games when they become its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Connection, func, select, true

from gmd.cluster.shards import SHARDS
from gmd.games.events import AnyEvent, Created

from .interface import Deadline
from .sql import whole_seconds
from .store import LAST_GAME_ID
from .tables import events, games, retired
from .waiting import HAS_REGISTERED

_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


class ShardState(NamedTuple):
    """The state of some shards.

    :ivar deadlines: their live games with clocks, and their invitations with a time to expire.
    :ivar live: the number of games in each that are not over.
    :ivar highest: the highest id of a game in each, 0 where there is none.
    :ivar retired: the highest id of a game that was removed, in any shard.
    """

    deadlines: list[Deadline]
    live: Counter[int]
    highest: dict[int, int]
    retired: int


def shard_state(connection: Connection, shards: Collection[int]) -> ShardState:
    """Return the state of shards of games."""
    shard = games.c.game_id % SHARDS
    mine = true() if len(shards) == SHARDS else shard.in_(sorted(shards))
    live = (
        select(shard.label("shard"), func.count().label("games")).where(games.c.status != "over", mine).group_by(shard)
    )
    return ShardState(
        [*_clocks(connection, mine), *_lapsing(connection, mine)],
        Counter({row.shard: row.games for row in connection.execute(live)}),
        {number: _highest(connection, number) for number in shards},
        connection.execute(select(func.max(retired.c.game_id))).scalar() or 0,
    )


def _clocks(connection: Connection, mine: ColumnElement[bool]) -> list[Deadline]:
    query = select(games.c.game_id, games.c.seconds_left).where(games.c.status == "live", games.c.clocked, mine)
    found = connection.execute(query).all()
    return [Deadline(game_id, whole_seconds(connection, game_id, left)) for game_id, left in found]


def _lapsing(connection: Connection, mine: ColumnElement[bool]) -> list[Deadline]:
    query = (
        select(games.c.game_id, events.c.event)
        .join(events, events.c.game_id == games.c.game_id)
        .where(games.c.status == "open", HAS_REGISTERED, events.c.seq == 0, mine)
    )
    found: list[Deadline] = []
    for game_id, text in connection.execute(query):
        created = _decoder.decode(text)
        if isinstance(created, Created) and created.lapses is not None:
            found.append(Deadline(game_id, created.lapses))
    return found


def _highest(connection: Connection, shard: int) -> int:
    """Return the highest id in a shard: the games are read from the newest to the first of the shard, one in 256."""
    query = (
        select(games.c.game_id)
        .where(games.c.game_id % SHARDS == shard, games.c.game_id <= LAST_GAME_ID)
        .order_by(games.c.game_id.desc())
        .limit(1)
    )
    return connection.execute(query).scalar() or 0
