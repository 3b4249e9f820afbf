"""Registered players, and seats that are not taken yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Upgrade from 0003, before there were players: all seats were taken when their game was created."""
    player = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("games", sa.Column("white_taken", sa.Boolean, nullable=False, server_default=sa.true()))
    op.add_column("games", sa.Column("black_taken", sa.Boolean, nullable=False, server_default=sa.true()))
    op.create_table(
        "players",
        sa.Column("player", player, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("folded", sa.String(64), nullable=False, unique=True),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("key", sa.LargeBinary(32)),
        sa.Column("password", sa.String(256)),
        sa.Column("nonce", sa.LargeBinary(32)),
        sa.Column("previous", sa.LargeBinary(32)),
        sa.Column("register_token", sa.LargeBinary(32)),
        sa.Column("rekey_token", sa.LargeBinary(32)),
    )
