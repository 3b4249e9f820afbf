"""No more matches that several machines play together."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Upgrade from 0010, when several machines could play one match."""
    op.drop_table("match_games")
    op.drop_table("matches")
