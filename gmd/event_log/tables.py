"""The tables of an event log in a database, as the last of :mod:`gmd.event_log.migrations` leaves them.

A new database gets them at once. The columns have the order that they have after the steps.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
    true,
)

metadata = MetaData()
#: In SQLite a key of exactly this type is the row's own number; in other databases ids have 64 bits.
_GameId = BigInteger().with_variant(Integer(), "sqlite")

games = Table(
    "games",
    metadata,
    Column("game_id", _GameId, primary_key=True, autoincrement=False),
    Column("variant", String(32), nullable=False),
    Column("player_white", BigInteger),
    Column("player_black", BigInteger),
    Column("created", String(32), nullable=False),
    Column("clocked", Boolean, nullable=False),
    # Whether the game may still wait for the seat's player: false once the player has been shown the end.
    Column("white_open", Boolean, nullable=False),
    Column("black_open", Boolean, nullable=False),
    Column("status", String(8), nullable=False),
    Column("termination", String(32), nullable=False),
    # Only these five columns change with every move, and no index holds them.
    Column("events", Integer, nullable=False),
    Column("turn", String(8), nullable=False),
    Column("ply_index", Integer, nullable=False),
    Column("seconds_left", Float(53)),
    Column("changed", Float(53), nullable=False),
    # When it ended, in seconds since 1970; null while it is in progress.
    Column("ended", Float(53)),
    # Whether the seat is taken; before, its player is the invited one, if any.
    Column("white_taken", Boolean, nullable=False, server_default=true()),
    Column("black_taken", Boolean, nullable=False, server_default=true()),
    # The versions of the players' bots in a ranked game; null in others.
    Column("white_version", Integer),
    Column("black_version", Integer),
    Index("games_of_white", "player_white", "status", "game_id"),
    Index("games_of_black", "player_black", "status", "game_id"),
    Index("games_open_to_white", "player_white", "white_open", "status", "ended"),
    Index("games_open_to_black", "player_black", "black_open", "status", "ended"),
    Index("games_by_status", "status", "game_id"),
    Index("games_of_variant", "variant", "status", "game_id"),
    Index("games_by_end", "ended"),
    Index("games_with_clocks", "clocked", "status"),
    # Covers the queries of ranked games only: a million are counted without reading the table.
    Index(
        "games_ranked",
        "player_white",
        "white_version",
        "player_black",
        "black_version",
        "termination",
        sqlite_where=text("white_version IS NOT NULL"),
        postgresql_where=text("white_version IS NOT NULL"),
    ),
)

events = Table(
    "events",
    metadata,
    Column("game_id", _GameId, primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("event", Text, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    # A digest of player and token, because tokens without a player must be unique too.
    Column("token", LargeBinary(32), primary_key=True),
    Column("game_id", _GameId, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("tokens_of_games", "game_id"),
)

#: At most one row: the highest id of a removed game. No game gets this id, or a lower one, again.
retired = Table("retired", metadata, Column("game_id", _GameId, primary_key=True, autoincrement=False))

players = Table(
    "players",
    metadata,
    Column("player", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True, autoincrement=False),
    Column("name", String(64), nullable=False),
    # The name in lower case, which must be unique.
    Column("folded", String(64), nullable=False, unique=True),
    Column("created", String(32), nullable=False),
    # A digest, and a hash that names its own algorithm.
    Column("key", LargeBinary(32)),
    Column("password", String(256)),
    # Digests that identify a retried request; gmd.players.account says more.
    Column("nonce", LargeBinary(32)),
    Column("previous", LargeBinary(32)),
    Column("register_token", LargeBinary(32)),
    Column("rekey_token", LargeBinary(32)),
    Column("max_games", Integer, nullable=False, server_default=text("4")),
    Column("ranked", Boolean, nullable=False, server_default=false()),
    Column("version", Integer, nullable=False, server_default=text("0")),
    # How often all cookies of the player were ended, and the digests of single ones that were ended since.
    Column("cookie_epoch", Integer, nullable=False, server_default=text("0")),
    Column("ended_cookies", LargeBinary(256)),
)

#: Matches and tournaments, with the latest report of each as JSON.
contests = Table(
    "contests",
    metadata,
    Column("contest_id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True, autoincrement=False),
    # Who reports it: a registered player, the operator, or (neither) a client without a registered player.
    Column("player", BigInteger),
    Column("operator", Boolean, nullable=False),
    # A digest of owner and token.
    Column("token", LargeBinary(32), nullable=False),
    Column("began", Float(53), nullable=False),
    Column("changed", Float(53), nullable=False),
    Column("report", Text, nullable=False),
)

#: Tables that exist in PostgreSQL only.
postgres_metadata = MetaData()

#: Secrets that outlive a takeover. Anybody who reads the database is trusted.
secrets = Table(
    "secrets",
    postgres_metadata,
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

#: Times in seconds since 1970.
clocks = Table(
    "clocks",
    postgres_metadata,
    Column("name", Text, primary_key=True),
    Column("seen", Float(53), nullable=False),
)
