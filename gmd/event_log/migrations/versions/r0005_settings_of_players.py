"""The settings of registered players: most games at a time, ranked play, and the version of the bot."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Upgrade from 0004, before there were settings: every player gets the defaults."""
    op.add_column("players", sa.Column("max_games", sa.Integer, nullable=False, server_default=sa.text("4")))
    op.add_column("players", sa.Column("ranked", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("players", sa.Column("version", sa.Integer, nullable=False, server_default=sa.text("0")))
