"""The times at which games ended, so that old ones can be pruned; and listings by variant."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Upgrade from 0001: a finished game has not changed since it ended."""
    game_id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("games", sa.Column("ended", sa.Float(53)))
    op.execute("UPDATE games SET ended = changed WHERE status = 'over'")
    op.create_index("games_by_end", "games", ["ended"])
    op.create_index("games_of_variant", "games", ["variant", "status", "game_id"])
    op.create_index("tokens_of_games", "tokens", ["game_id"])
    op.create_table("retired", sa.Column("game_id", game_id, primary_key=True, autoincrement=False))
