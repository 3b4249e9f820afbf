"""Clusters of daemons, in PostgreSQL only: daemons, shards of games, and shared secrets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

#: The shards of games, and that of the lobby.
_SHARDS = 257


def upgrade() -> None:
    """Upgrade from 0007. A file of SQLite's has one daemon, and stays as it is."""
    if op.get_bind().dialect.name != "postgresql":
        return
    op.create_table(
        "daemons",
        sa.Column("daemon", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("link", sa.Text, nullable=False),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("http", sa.Text),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("draining", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("began", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("vitals", sa.Text),
    )
    shards = op.create_table(
        "shards",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("daemon", sa.BigInteger),
        sa.Column("epoch", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("wanted", sa.BigInteger),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )
    op.bulk_insert(shards, [{"shard": shard} for shard in range(_SHARDS)])
