"""The ends a player is to be told, the latest first, without a look at all the others."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """From 0002."""
    for seat in ("white", "black"):
        op.drop_index(f"games_open_to_{seat}", "games")
        op.create_index(f"games_open_to_{seat}", "games", [f"player_{seat}", f"{seat}_open", "status", "ended"])
