"""One daemon at a time serves a database, and one machine plays a match: the tables for more are dropped."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Upgrade from 0010, when several daemons could serve a database, and several machines play one match."""
    op.drop_table("match_games")
    op.drop_table("matches")
    if op.get_bind().dialect.name == "postgresql":
        op.drop_table("daemons")
        op.drop_table("shards")
