"""Matches that several machines play together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Upgrade from 0008, before several machines could play one match."""
    op.create_table(
        "matches",
        sa.Column("match_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("player", sa.BigInteger),
        sa.Column("operator", sa.Boolean, nullable=False),
        sa.Column("token", sa.LargeBinary(32), nullable=False, unique=True),
        sa.Column("arguments", sa.Text, nullable=False),
        sa.Column("planned", sa.Integer, nullable=False),
        sa.Column("listed", sa.Integer, nullable=False),
        sa.Column("decided", sa.Integer),
        sa.Column("began", sa.Float(53), nullable=False),
        sa.Column("changed", sa.Float(53), nullable=False),
    )
    op.create_table(
        "match_games",
        sa.Column("match_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("worker", sa.String(64)),
        sa.Column("until", sa.Float(53), nullable=False),
        sa.Column("result", sa.String(8)),
        sa.Column("game_id", sa.BigInteger),
        sa.Column("detail", sa.Text),
    )
    unfinished = sa.text("result IS NULL")
    op.create_index(
        "match_games_open",
        "match_games",
        ["match_id", "number"],
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )
