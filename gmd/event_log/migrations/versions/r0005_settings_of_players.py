"""What registered players have set: games at a time, whether ranked ones, and the versions of their bots."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """From before there were settings: everybody has those of a player who has said nothing."""
    op.add_column("players", sa.Column("max_games", sa.Integer, nullable=False, server_default=sa.text("4")))
    op.add_column("players", sa.Column("ranked", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("players", sa.Column("version", sa.Integer, nullable=False, server_default=sa.text("0")))
