"""The tables of daemons that served one database together are dropped; PostgreSQL only."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Upgrade from 0011, before a database had one daemon at a time."""
    if op.get_bind().dialect.name != "postgresql":
        return
    op.drop_table("daemons")
    op.drop_table("shards")
