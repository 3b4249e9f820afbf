"""Games, their events, and the tokens under which they were created."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the schema in an empty database."""
    game_id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "games",
        sa.Column("game_id", game_id, primary_key=True, autoincrement=False),
        sa.Column("variant", sa.String(32), nullable=False),
        sa.Column("player_white", sa.BigInteger),
        sa.Column("player_black", sa.BigInteger),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("clocked", sa.Boolean, nullable=False),
        sa.Column("white_open", sa.Boolean, nullable=False),
        sa.Column("black_open", sa.Boolean, nullable=False),
        sa.Column("status", sa.String(8), nullable=False),
        sa.Column("termination", sa.String(32), nullable=False),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("turn", sa.String(8), nullable=False),
        sa.Column("ply_index", sa.Integer, nullable=False),
        sa.Column("seconds_left", sa.Float(53)),
        sa.Column("changed", sa.Float(53), nullable=False),
    )
    op.create_index("games_of_white", "games", ["player_white", "status", "game_id"])
    op.create_index("games_of_black", "games", ["player_black", "status", "game_id"])
    op.create_index("games_open_to_white", "games", ["player_white", "white_open", "status"])
    op.create_index("games_open_to_black", "games", ["player_black", "black_open", "status"])
    op.create_index("games_by_status", "games", ["status", "game_id"])
    op.create_index("games_with_clocks", "games", ["clocked", "status"])
    op.create_table(
        "events",
        sa.Column("game_id", game_id, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("event", sa.Text, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("token", sa.LargeBinary(32), primary_key=True),
        sa.Column("game_id", game_id, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
