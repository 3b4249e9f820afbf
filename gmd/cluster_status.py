"""What operators see of the daemons on one database: who they are, what each holds and does."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, Integer, case, cast, func, select

from gmd.cluster.shards import LOBBY, SHARDS
from gmd.cluster.tables import daemons, shards
from gmd.cluster.vitals import ClusterVitals, read
from gmd.event_log.tables import games


class DaemonStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A daemon.

    :ivar daemon: its id, as text, because programs that read JSON may not keep numbers of 63 bits.
    :ivar game: its game port as host:port; ``link`` its port for links; ``http`` that of HTTP; None if it has none.
    :ivar since: when it joined, in UTC.
    :ivar lease_seconds: the rest of its lease by the database's clock; negative once that has run out.
    :ivar draining: whether it is stopping, and hands its games over.
    :ivar joining: whether the lobby's owner has not reached it yet, so that it serves nobody.
    :ivar shards: how many shards of games it owns.
    :ivar lobby: whether it owns the lobby.
    :ivar live_games: the games in its shards that are not over.
    :ivar requests: the requests of its clients over the game port, and what it has answered over HTTP, since it joined;
        None if it has not said so yet, as the following.
    :ivar forwarded: how many requests over the game port it has forwarded to others.
    :ivar http_requests: its clients' requests over HTTP for games and lists, which have an owner.
    :ivar http_forwarded: how many of those others have answered.
    :ivar answered: how many of others' clients it has answered.
    :ivar notes_waiting: its notes to others that are not acknowledged yet: what they do not know yet.
    :ivar links_down: the game ports of daemons to which it has no connection.
    """

    daemon: str
    game: str
    link: str
    http: str | None
    version: str
    since: str
    lease_seconds: float
    draining: bool
    joining: bool
    shards: int
    lobby: bool
    live_games: int
    requests: int | None = None
    forwarded: int | None = None
    forwarded_share: float | None = None
    http_requests: int | None = None
    http_forwarded: int | None = None
    http_forwarded_share: float | None = None
    answered: int | None = None
    notes_waiting: int | None = None
    links_down: list[str] | None = None


class ClusterStatus(msgspec.Struct, frozen=True, kw_only=True):
    """All daemons on a database.

    :ivar free_shards: shards that no daemon owns: requests for their games wait.
    :ivar lobby: the game port of the lobby's owner; None while there is none.
    """

    daemons: list[DaemonStatus]
    free_shards: int
    lobby: str | None
    live_games: int


#: The shard of a game; ids are never negative.
_SHARD = games.c.game_id % SHARDS


def read_status(connection: Connection) -> ClusterStatus:
    """Return the daemons on a PostgreSQL database, the one that joined first at the top."""
    owned = {
        row.daemon: row
        for row in connection.execute(
            select(
                shards.c.daemon,
                func.count().filter(shards.c.shard != LOBBY).label("number"),
                func.max(case((shards.c.shard == LOBBY, 1), else_=0)).label("lobby"),
            ).group_by(shards.c.daemon)
        )
    }
    query = (
        select(shards.c.daemon, func.count().label("number"))
        .join_from(games, shards, cast(_SHARD, Integer) == shards.c.shard)
        .where(games.c.status != "over")
        .group_by(shards.c.daemon)
    )
    live = {row.daemon: row.number for row in connection.execute(query)}
    now = func.clock_timestamp()
    columns = (daemons, func.extract("epoch", daemons.c.until - now).label("seconds"))
    since = func.to_char(func.timezone("UTC", daemons.c.began), 'YYYY-MM-DD"T"HH24:MI:SS"Z"').label("since")
    rows = connection.execute(select(*columns, since).order_by(daemons.c.began, daemons.c.daemon)).all()
    found = []
    for row in rows:
        of_shards = owned.get(row.daemon)
        status = DaemonStatus(
            daemon=str(row.daemon),
            game=row.game,
            link=row.link,
            http=row.http,
            version=row.version,
            since=row.since,
            lease_seconds=round(float(row.seconds), 3),
            draining=row.draining,
            joining=row.joining,
            shards=0 if of_shards is None else of_shards.number,
            lobby=of_shards is not None and bool(of_shards.lobby),
            live_games=live.get(row.daemon, 0),
        )
        found.append(_with(status, read(row.vitals)))
    free = owned[None].number if None in owned else 0
    lobby = next((status.game for status in found if status.lobby), None)
    return ClusterStatus(daemons=found, free_shards=free, lobby=lobby, live_games=sum(live.values()))


def _with(status: DaemonStatus, vitals: ClusterVitals | None) -> DaemonStatus:
    """Return a daemon's status with what it says of itself."""
    if vitals is None:
        return status
    return msgspec.structs.replace(
        status,
        requests=vitals.requests,
        forwarded=vitals.forwarded,
        forwarded_share=_share(vitals.forwarded, vitals.requests),
        http_requests=vitals.http_requests,
        http_forwarded=vitals.http_forwarded,
        http_forwarded_share=_share(vitals.http_forwarded, vitals.http_requests),
        answered=sum(link.answered for link in vitals.links),
        notes_waiting=vitals.notes,
        links_down=[link.game for link in vitals.links if not link.connected],
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0
