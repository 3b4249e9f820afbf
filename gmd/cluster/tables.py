"""The tables of a cluster of daemons, which are in PostgreSQL only."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Float,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    insert,
    text,
)

from .shards import LOBBY

metadata = MetaData()

#: The daemons that take part. Times are the database's.
daemons = Table(
    "daemons",
    metadata,
    # A random id of 63 bits, made anew whenever a daemon joins.
    Column("daemon", BigInteger, primary_key=True, autoincrement=False),
    # Where other daemons and clients reach it, as host:port; http is null if it serves no HTTP.
    Column("link", Text, nullable=False),
    Column("game", Text, nullable=False),
    Column("http", Text),
    Column("version", Text, nullable=False),
    # Whether it is stopping: it hands its shards over, and gets none.
    Column("draining", Boolean, nullable=False, server_default=text("false")),
    Column("began", DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()")),
    # The end of its lease, if that is not renewed.
    Column("until", DateTime(timezone=True), nullable=False),
    # Whether the lobby's owner has not reached it yet: it gets no shards, and serves nobody.
    Column("joining", Boolean, nullable=False, server_default=text("false")),
    # Whether it may not renew its lease, because others cannot reach it.
    Column("expelled", Boolean, nullable=False, server_default=text("false")),
    # What it says of itself with each renewal (gmd.cluster.vitals), as JSON.
    Column("vitals", Text),
)

#: Every shard, LOBBY included, from the beginning.
shards = Table(
    "shards",
    metadata,
    Column("shard", SmallInteger, primary_key=True, autoincrement=False),
    # Its owner; null while it has none.
    Column("daemon", BigInteger),
    # It grows with each change of the owner, so that a former owner is refused.
    Column("epoch", BigInteger, nullable=False, server_default=text("0")),
    # The daemon to which its owner is to hand it over.
    Column("wanted", BigInteger),
)

#: Secrets that all daemons share: anybody who reads the database is trusted.
secrets = Table(
    "secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

#: Times that all daemons share, in seconds since 1970.
clocks = Table(
    "clocks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("seen", Float(53), nullable=False),
)


def create_cluster(connection: Connection) -> None:
    """Create the tables, with every shard, which nobody owns yet."""
    metadata.create_all(connection, checkfirst=False)
    connection.execute(insert(shards), [{"shard": shard} for shard in range(LOBBY + 1)])
