"""The tables of daemons and shards: joining, renewing, taking over, sharing out, in short transactions of their own.

Ownership is what these tables say. A lease is counted by the database's clock alone. Locks are taken in one order,
daemons before shards, so that no two of these transactions wait for each other.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg.rows import class_row, tuple_row

from .connecting import connected
from .shard_map import Member, Shard, ShardMap
from .shards import LOBBY

#: Seconds that a lease lasts.
LEASE_SECONDS = 2.0
#: Channel of notifications that the map has changed.
CHANNEL = "gmd_shards"

_MEMBERS = """
    SELECT daemon, link, game, coalesce(http, '') AS http, version, draining, joining, until < now AS lapsed,
           extract(epoch FROM until - now)::float8 AS seconds, extract(epoch FROM until)::float8 AS until
    FROM daemons, (SELECT clock_timestamp() AS now) AS clock ORDER BY daemon
"""


class Fenced(Exception):
    """This daemon's lease has run out, and others may own its shards."""


class Change(NamedTuple):
    """A shard's row after a change by this daemon."""

    shard: int
    daemon: int | None
    epoch: int


class Leases:
    """One daemon's access to the tables. Its calls block; they are made by one thread at a time.

    Each connects if there is no connection, and raises psycopg.Error if the database fails; then call :meth:`close`:
    the server may take no writes any more, because another one is the primary by now.
    """

    def __init__(self, url: str, me: int) -> None:
        """:param url: the database's, as psycopg takes it."""
        self.me = me
        #: What the next renewal stores for operators, as JSON; None to leave what is there.
        self.vitals: str | None = None
        self._url = url
        self._connection: psycopg.Connection[Any] | None = None

    def close(self) -> None:
        """Close the connection, if there is one; the next call makes a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def join(self, member: Member) -> None:
        """Add this daemon to the members, with a new lease.

        :param member: its addresses and its version, and whether it is still joining.
        """
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO daemons (daemon, link, game, http, version, joining, until)"
                " VALUES (%s, %s, %s, nullif(%s, ''), %s, %s, clock_timestamp() + make_interval(secs => %s))",
                (self.me, member.link, member.game, member.http, member.version, member.joining, LEASE_SECONDS),
            )
            _notify(connection)

    def renew(self) -> ShardMap:
        """Renew the lease, and return the map.

        A lease that has run out is renewed, too, as long as no other daemon has taken over: one that does removes the
        daemon's row first, so no other has owned its shards in between.

        :raises Fenced: another daemon has taken over, or this one is expelled.
        """
        renewed = self._connected().execute(
            "UPDATE daemons SET until = clock_timestamp() + make_interval(secs => %s), vitals = coalesce(%s, vitals)"
            " WHERE daemon = %s AND NOT expelled",
            (LEASE_SECONDS, self.vitals, self.me),
        )
        if renewed.rowcount == 0:
            raise Fenced(f"daemon {self.me} has no lease any more")
        return self.look()

    def look(self) -> ShardMap:
        """Return the map."""
        connection = self._connected()
        with connection.cursor(row_factory=tuple_row) as cursor:
            rows = cursor.execute("SELECT shard, daemon, epoch, wanted FROM shards ORDER BY shard").fetchall()
        with connection.cursor(row_factory=class_row(Member)) as cursor:
            members = {member.daemon: member for member in cursor.execute(_MEMBERS)}
        shards = [Shard()] * (LOBBY + 1)
        for shard, daemon, epoch, wanted in rows:
            shards[shard] = Shard(daemon, epoch, wanted)
        return ShardMap(members, shards)

    def take_over(self, daemons: Collection[int]) -> list[int]:
        """Remove those of some members whose leases have run out, and free their shards; return those shards.

        A renewal that comes first prevents it, and it waits for commits under way in these shards.
        """
        with self._transaction() as connection:
            # A renewal locks the row: after waiting for it, PostgreSQL checks the condition again.
            found = connection.execute(
                "SELECT daemon FROM daemons WHERE daemon = ANY(%s) AND until < clock_timestamp() FOR UPDATE",
                (sorted(daemons),),
            )
            dead = [daemon for (daemon,) in found]
            return _remove(connection, dead)

    def leave(self) -> None:
        """Remove this daemon from the members, and free what it still owns."""
        with self._transaction() as connection:
            _remove(connection, [self.me])

    def take(self, shards: Collection[int]) -> list[Change]:
        """Take shards as far as they are free.

        :raises Fenced: the lease has run out.
        """
        with self._transaction() as connection:
            # With its row locked, this daemon is not taken over before it owns them.
            alive = connection.execute(
                "SELECT 1 FROM daemons WHERE daemon = %s AND until > clock_timestamp() FOR KEY SHARE", (self.me,)
            )
            if alive.fetchone() is None:
                raise Fenced(f"daemon {self.me} has no lease any more")
            taken = connection.execute(
                "UPDATE shards SET daemon = %s, epoch = epoch + 1, wanted = NULL"
                " WHERE shard = ANY(%s) AND daemon IS NULL RETURNING shard, daemon, epoch",
                (self.me, sorted(shards)),
            )
            return _changes(connection, taken)

    def want(self, wanted: Mapping[int, int]) -> None:
        """Note the next owners of shards of this daemon, so that others count them as moved."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE shards SET wanted = new.wanted FROM unnest(%s::int[], %s::bigint[]) AS new (shard, wanted)"
                " WHERE shards.shard = new.shard AND shards.daemon = %s",
                (list(wanted), list(wanted.values()), self.me),
            )

    def hand_over(self, shards: Collection[int]) -> list[Change]:
        """Give shards of this daemon to their next owners; those whose next owner has gone become free."""
        with self._transaction() as connection:
            # With their rows locked, the next owners are not taken over before they own the shards.
            living = connection.execute(
                "SELECT daemon FROM daemons WHERE daemon IN (SELECT wanted FROM shards WHERE shard = ANY(%s))"
                " FOR KEY SHARE",
                (sorted(shards),),
            )
            given = connection.execute(
                "UPDATE shards SET daemon = CASE WHEN wanted = ANY(%s) THEN wanted END, epoch = epoch + 1,"
                " wanted = NULL WHERE shard = ANY(%s) AND daemon = %s RETURNING shard, daemon, epoch",
                ([daemon for (daemon,) in living], sorted(shards), self.me),
            )
            return _changes(connection, given)

    def settle(self) -> None:
        """Note that this daemon has joined: it may get shards."""
        with self._transaction() as connection:
            connection.execute("UPDATE daemons SET joining = false WHERE daemon = %s", (self.me,))
            _notify(connection)

    def expel(self, daemons: Collection[int]) -> None:
        """Stop some daemons from renewing their leases. Their shards are taken over once the leases have run out.

        :raises Fenced: this daemon does not own the lobby.
        """
        with self._transaction() as connection:
            # With its row locked, this daemon is not taken over in between.
            lobby = connection.execute(
                "SELECT 1 FROM daemons WHERE daemon = %s AND until > clock_timestamp() AND NOT expelled"
                " AND daemon = (SELECT daemon FROM shards WHERE shard = %s) FOR KEY SHARE",
                (self.me, LOBBY),
            )
            if lobby.fetchone() is None:
                raise Fenced(f"daemon {self.me} does not have the lobby")
            connection.execute("UPDATE daemons SET expelled = true WHERE daemon = ANY(%s)", (sorted(daemons),))
            _notify(connection)

    def drain(self) -> None:
        """Note that this daemon is stopping: the others give it no shards."""
        with self._transaction() as connection:
            connection.execute("UPDATE daemons SET draining = true WHERE daemon = %s", (self.me,))
            _notify(connection)

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            self._connection = connected(self._url, f"gmd {self.me} membership")
        return self._connection

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection[Any]]:
        connection = self._connected()
        with connection.transaction():
            yield connection


def new_daemon_id() -> int:
    """Return a random id for a daemon that joins; never 0."""
    return secrets.randbits(62) + 1


def _remove(connection: psycopg.Connection[Any], daemons: Sequence[int]) -> list[int]:
    if not daemons:
        return []
    gone = list(daemons)
    connection.execute("DELETE FROM daemons WHERE daemon = ANY(%s)", (gone,))
    freed = connection.execute(
        "UPDATE shards SET daemon = NULL, epoch = epoch + 1, wanted = NULL WHERE daemon = ANY(%s) RETURNING shard",
        (gone,),
    ).fetchall()
    connection.execute("UPDATE shards SET wanted = NULL WHERE wanted = ANY(%s)", (gone,))
    _notify(connection)
    return sorted(shard for (shard,) in freed)


def _changes(connection: psycopg.Connection[Any], cursor: psycopg.Cursor[Any]) -> list[Change]:
    changes = [Change(*row) for row in cursor]
    if changes:
        _notify(connection)
    return changes


def _notify(connection: psycopg.Connection[Any]) -> None:
    connection.execute(f"NOTIFY {CHANNEL}")
