"""Indexes of the finished games that a player has not been shown, latest first."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Upgrade from 0002."""
    for seat in ("white", "black"):
        op.drop_index(f"games_open_to_{seat}", "games")
        op.create_index(f"games_open_to_{seat}", "games", [f"player_{seat}", f"{seat}_open", "status", "ended"])
