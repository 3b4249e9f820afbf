"""Asks a database for a page of games, and reads what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, select, true, union_all

from gm_protocol.messages import GameRow, GameStatus
from gm_protocol.state import RESULTS
from gmd.utc import write_time

from .interface import GameQuery
from .tables import games

_SEATS = (games.c.player_white, games.c.player_black)
#: What a row's status may be.
_STATUSES: Sequence[GameStatus] = ("live", "over", "open")


def rows_query(query: GameQuery) -> Select[Any]:
    """The listing asked for.

    Each index lists the games of one status and one player or variant, newest first. So the page is the newest of what
    the first rows of each of them are: however many games there are, few are looked at.
    """
    newest = games.c.game_id.desc()
    wanted = [games.c.game_id < query.before] if query.before is not None else []
    if query.player is None and query.variant is None:
        status = [] if query.status is None else [games.c.status == query.status]
        return select(games).where(*wanted, *status).order_by(newest).limit(query.limit)
    if query.variant is not None:
        # No index holds what is computed: a player has fewer games than a variant, and theirs is the index to go by.
        variant = games.c.variant if query.player is None else games.c.variant.concat("")
        wanted.append(variant == query.variant)
    ids = select(games.c.game_id).where(*wanted).order_by(newest).limit(query.limit)
    seats = [true()] if query.player is None else [seat == query.player for seat in _SEATS]
    statuses = _STATUSES if query.status is None else [query.status]
    parts = [ids.where(seat, games.c.status == status).subquery() for seat in seats for status in statuses]
    found = union_all(*(select(part.c.game_id) for part in parts))
    return select(games).where(games.c.game_id.in_(found)).order_by(newest).limit(query.limit)


def row_of(found: Row[Any]) -> GameRow:
    """Return a row of the database as it is listed."""
    return GameRow(
        game_id=found.game_id,
        variant=found.variant,
        player_white=found.player_white,
        player_black=found.player_black,
        status=found.status,
        turn=found.turn,
        ply_index=found.ply_index,
        termination=found.termination,
        result=RESULTS[found.termination],
        created=found.created,
        changed=write_time(found.changed),
    )
