"""The query of a page of games in a database, and the reading of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, select, true, union_all

from gm_protocol.endings import read_ending, result_of
from gm_protocol.messages import GameRow, GameStatus
from gmd.utc import is_time, write_time

from .damage import note_damage
from .interface import GameQuery
from .tables import games

_SEATS = (games.c.player_white, games.c.player_black)
#: The values of a row's status.
_STATUSES: Sequence[GameStatus] = ("live", "over", "open")
#: The fields of a listing that equal columns.
_AS_STORED = [name for name in GameRow.__struct_fields__ if name not in ("result", "changed")]


def rows_query(query: GameQuery) -> Select[Any]:
    """Return the query for a listing.

    Each index lists the games of one status and one player or variant, newest first. The page is the newest of the
    first rows in each of these indexes, so few games are read however many there are.
    """
    newest = games.c.game_id.desc()
    wanted = [games.c.game_id < query.before] if query.before is not None else []
    if query.player is None and query.variant is None:
        status = [] if query.status is None else [games.c.status == query.status]
        return select(games).where(*wanted, *status).order_by(newest).limit(query.limit)
    if query.variant is not None:
        # No index holds a computed value. A player has fewer games than a variant, so this forces the player's index.
        variant = games.c.variant if query.player is None else games.c.variant.concat("")
        wanted.append(variant == query.variant)
    ids = select(games.c.game_id).where(*wanted).order_by(newest).limit(query.limit)
    seats = [true()] if query.player is None else [seat == query.player for seat in _SEATS]
    statuses = _STATUSES if query.status is None else [query.status]
    parts = [ids.where(seat, games.c.status == status).subquery() for seat in seats for status in statuses]
    found = union_all(*(select(part.c.game_id) for part in parts))
    return select(games).where(games.c.game_id.in_(found)).order_by(newest).limit(query.limit)


def whole_rows(connection: Connection, found: Iterable[Row[Any]]) -> list[GameRow]:
    """Return rows of the database as a listing shows them; damaged ones are logged and left out."""
    rows: list[GameRow] = []
    for each in found:
        try:
            rows.append(_row_of(each))
        except _Damaged as damaged:
            note_damage(connection, games.name, each.game_id, str(damaged))
    return rows


class _Damaged(Exception):
    """A row with an invalid value in a column."""


def _row_of(found: Row[Any]) -> GameRow:
    try:
        result = result_of(read_ending(found.termination))
    except ValueError:
        raise _Damaged(f"termination is {found.termination!r:.80}") from None
    if not is_time(found.changed):
        raise _Damaged(f"changed is {found.changed!r:.80}")
    row = {name: getattr(found, name) for name in _AS_STORED}
    row |= {"result": result, "changed": write_time(found.changed)}
    try:
        return msgspec.convert(row, GameRow, strict=True)
    except msgspec.ValidationError as error:
        raise _Damaged(str(error)) from None
