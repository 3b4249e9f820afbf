"""Ranked games, and the versions of the bots that play them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Upgrade from 0005, before there were ranked games."""
    op.add_column("games", sa.Column("white_version", sa.Integer))
    op.add_column("games", sa.Column("black_version", sa.Integer))
    is_ranked = sa.text("white_version IS NOT NULL")
    op.create_index(
        "games_ranked",
        "games",
        ["player_white", "white_version", "player_black", "black_version", "termination"],
        sqlite_where=is_ranked,
        postgresql_where=is_ranked,
    )
