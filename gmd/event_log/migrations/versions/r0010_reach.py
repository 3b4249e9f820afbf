"""What daemons of a cluster know of each other's reach, and the time by which games were pruned; PostgreSQL only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Upgrade from 0009, before a daemon had to be reached by others to count."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for name in ("joining", "expelled"):
        op.add_column("daemons", sa.Column(name, sa.Boolean, nullable=False, server_default=sa.text("false")))
    op.create_table(
        "clocks",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("seen", sa.Float(53), nullable=False),
    )
