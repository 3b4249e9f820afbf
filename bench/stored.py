"""Data directories with very many games, which are copies of a few really played games."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from gmd.event_log.opening import FILE_NAME
from gmd.event_log.tables import games as games_table

from . import servers
from .load import HELLO, frame, move, session
from .progress import steps

#: Games copied between two updates of the progress bar: some tenths of a second.
A_STEP = 5_000
#: The number of players of the copies; FIRST_PLAYER is the lowest id.
PLAYERS = 1_000
FIRST_PLAYER = 1_001

#: A copy has another id and other players; everything else is as played.
_PLAYERS = f"""
WITH RECURSIVE ids (id) AS (SELECT :first UNION ALL SELECT id + 1 FROM ids WHERE id < :last),
copies (id, template, white, black) AS (
    SELECT id, :template + id % :templates, {FIRST_PLAYER} + id % {PLAYERS}, {FIRST_PLAYER} + id * 7 % {PLAYERS}
    FROM ids
)
"""
_OTHERS = ", ".join(
    column.name for column in games_table.columns if column.name not in ("game_id", "player_white", "player_black")
)
_COPY_GAMES = f"""
INSERT INTO games (game_id, player_white, player_black, {_OTHERS})
{_PLAYERS} SELECT id, white, black, {_OTHERS} FROM copies JOIN games ON game_id = template
"""
_COPY_EVENTS = f"""
INSERT INTO events (game_id, seq, event)
{_PLAYERS} SELECT id, seq,
    CASE seq WHEN 0 THEN json_set(event, '$.player_white', white, '$.player_black', black) ELSE event END
FROM copies JOIN events ON game_id = template
"""

#: The request of a game, and its moves.
Played = tuple[dict[str, object], Sequence[str]]


def players(game_id: int, templates: int) -> tuple[int, int]:
    """Return White and Black of a game."""
    if game_id <= templates:
        return 1, 2
    return FIRST_PLAYER + game_id % PLAYERS, FIRST_PLAYER + game_id * 7 % PLAYERS


def template(game_id: int, templates: int) -> int:
    """Return the index, from 0, of the really played game that a game is a copy of."""
    return game_id - 1 if game_id <= templates else game_id % templates


@contextmanager
def directory(played: Sequence[Played], count: int) -> Iterator[Path]:
    """Create a data directory with ``count`` games: those in ``played``, in that order, and copies of them."""
    with tempfile.TemporaryDirectory(prefix="gmd-bench-") as name:
        path = Path(name)
        _play(path, played)
        _copy(path / FILE_NAME, len(played), count)
        yield path


def _play(path: Path, played: Sequence[Played]) -> None:
    with servers.gmd(str(path)) as server:
        for game_id, (options, moves) in enumerate(played, 1):
            begun = frame({"kind": "new_game", "player_white": 1, "player_black": 2, **options})
            frames = [HELLO, begun, *(move(game_id, ply, text) for ply, text in enumerate(moves))]
            session(server.address, frames, window=32)


def _copy(file: Path, templates: int, count: int) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for first in steps(range(templates + 1, count + 1, A_STEP), f"Storing {count:,} games"):
            ids = {"first": first, "last": min(first + A_STEP - 1, count), "template": 1, "templates": templates}
            connection.execute("BEGIN")
            connection.execute(_COPY_GAMES, ids)
            connection.execute(_COPY_EVENTS, ids)
            connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def make_ranked(path: Path) -> None:
    """Make all games of a data directory ranked, in their rows only."""
    with closing(sqlite3.connect(path / FILE_NAME)) as connection:
        connection.execute("UPDATE games SET white_version = 1, black_version = 1")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
