"""Contests: the matches and tournaments that programs report."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Upgrade from 0006, before there were contests."""
    op.create_table(
        "contests",
        sa.Column(
            "contest_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=False
        ),
        sa.Column("player", sa.BigInteger),
        sa.Column("operator", sa.Boolean, nullable=False),
        sa.Column("token", sa.LargeBinary(32), nullable=False),
        sa.Column("began", sa.Float(53), nullable=False),
        sa.Column("changed", sa.Float(53), nullable=False),
        sa.Column("report", sa.Text, nullable=False),
    )
