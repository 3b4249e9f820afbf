"""Contests stored in the database of the games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from gmd.event_log.damage import DamagedRow, intact_rows
from gmd.event_log.interface import Database
from gmd.event_log.tables import contests
from gmd.event_log.utc import is_time
from gmd.lobby.contests import Contest, Owner, contest_of
from gmd.players.account import is_registered

_DIGEST_SIZE = 32


class SqlContests:
    """A store of contests with a table row for each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[Contest]:
        return await self._database.read(lambda connection: intact_rows(connection, contests, read_contest))

    async def newest_id(self) -> int:
        return await self._database.read(_newest_id)

    async def write(self, changed: Sequence[Contest], gone: Sequence[int]) -> None:
        rows = [_row(contest) for contest in changed]
        replaced = [*gone, *(contest.contest_id for contest in changed)]

        def write(connection: Connection) -> None:
            connection.execute(delete(contests).where(contests.c.contest_id.in_(replaced)))
            if rows:
                connection.execute(insert(contests), rows)

        await self._database.write(write)


def read_contest(columns: Mapping[str, Any]) -> Contest:
    """Return the contest of a row, whose values are trusted in nothing.

    :raises DamagedRow: a column has a value that was never written to it.
    """
    number, player, operator = columns["contest_id"], columns["player"], columns["operator"]
    if not isinstance(number, int) or number < 1:
        raise DamagedRow(f"contest_id is {number!r:.80}")
    if player is not None and not (isinstance(player, int) and is_registered(player)):
        raise DamagedRow(f"player is {player!r:.80}, which is not a player's id")
    if operator not in (0, 1):
        raise DamagedRow(f"operator is {operator!r:.80}")
    token, report = columns["token"], columns["report"]
    if not isinstance(token, bytes) or len(token) != _DIGEST_SIZE:
        raise DamagedRow(f"token is not a digest of {_DIGEST_SIZE} bytes")
    for name in ("began", "changed"):
        if not is_time(columns[name]):
            raise DamagedRow(f"{name} is {columns[name]!r:.80}")
    if not isinstance(report, str):
        raise DamagedRow("report is not text")
    try:
        owner = Owner(player, bool(operator))
        return contest_of(number, owner, token, columns["began"], columns["changed"], report.encode())
    except msgspec.MsgspecError as error:
        raise DamagedRow(f"report: {error}") from None


def _newest_id(connection: Connection) -> int:
    newest: int | None = connection.execute(select(func.max(contests.c.contest_id))).scalar()
    return newest if isinstance(newest, int) else 0


def _row(contest: Contest) -> dict[str, Any]:
    return {
        "contest_id": contest.contest_id,
        "player": contest.owner.player,
        "operator": contest.owner.operator,
        "token": contest.token,
        "began": contest.began,
        "changed": contest.changed,
        "report": contest.encoded.decode(),
    }
