"""The cookies that registered players have ended by signing out of the pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Upgrade from 0011, when a copied cookie outlived a sign-out."""
    op.add_column("players", sa.Column("cookie_epoch", sa.Integer, nullable=False, server_default=sa.text("0")))
    op.add_column("players", sa.Column("ended_cookies", sa.LargeBinary(256)))
