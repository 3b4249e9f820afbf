"""Contests stored in the database of the games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from gmd.event_log.damage import note_damage, stored_rows
from gmd.event_log.interface import Database, LogFailed, LogUnreachable
from gmd.event_log.tables import contests
from gmd.event_log.utc import is_time
from gmd.lobby.contests import Contest, ContestsNotWritten, Owner, contest_of
from gmd.players.account import is_registered

_DIGEST_SIZE = 32


class DamagedContest(Exception):
    """A row that is no contest; the message names the column."""


class SqlContests:
    """A store of contests with a table row for each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[Contest]:
        return await self._database.read(_load)

    async def newest_id(self) -> int:
        return await self._database.read(_newest_id)

    async def write(self, changed: Sequence[Contest], gone: Sequence[int]) -> None:
        rows = [_row(contest) for contest in changed]
        replaced = [*gone, *(contest.contest_id for contest in changed)]

        def write(connection: Connection) -> None:
            connection.execute(delete(contests).where(contests.c.contest_id.in_(replaced)))
            if rows:
                connection.execute(insert(contests), rows)

        try:
            await self._database.write(write)
        except LogUnreachable:
            raise
        except LogFailed as error:
            raise ContestsNotWritten(f"the contests cannot be written: {error}") from None


def stored_contests(connection: Connection) -> Iterator[tuple[object, Contest | DamagedContest]]:
    """Yield every row's number with its contest, or with the damage found, in the order of the ids."""
    for columns in stored_rows(connection, contests):
        try:
            yield columns["contest_id"], read_contest(columns)
        except DamagedContest as damaged:
            yield columns["contest_id"], damaged


def read_contest(columns: Mapping[str, Any]) -> Contest:
    """Return the contest of a row, whose values are trusted in nothing.

    :raises DamagedContest: a column has a value that was never written to it.
    """
    number, player, operator = columns["contest_id"], columns["player"], columns["operator"]
    if not isinstance(number, int) or number < 1:
        raise DamagedContest(f"contest_id is {number!r:.80}")
    if player is not None and not (isinstance(player, int) and is_registered(player)):
        raise DamagedContest(f"player is {player!r:.80}, which is not a player's id")
    if operator not in (0, 1):
        raise DamagedContest(f"operator is {operator!r:.80}")
    token, report = columns["token"], columns["report"]
    if not isinstance(token, bytes) or len(token) != _DIGEST_SIZE:
        raise DamagedContest(f"token is not a digest of {_DIGEST_SIZE} bytes")
    for name in ("began", "changed"):
        if not is_time(columns[name]):
            raise DamagedContest(f"{name} is {columns[name]!r:.80}")
    if not isinstance(report, str):
        raise DamagedContest("report is not text")
    try:
        owner = Owner(player, bool(operator))
        return contest_of(number, owner, token, columns["began"], columns["changed"], report.encode())
    except msgspec.MsgspecError as error:
        raise DamagedContest(f"report: {error}") from None


def _load(connection: Connection) -> list[Contest]:
    found: list[Contest] = []
    for row, contest in stored_contests(connection):
        if isinstance(contest, Contest):
            found.append(contest)
        else:
            note_damage(connection, contests.name, row, str(contest))
    return found


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
