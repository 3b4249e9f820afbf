"""Players stored in the database of the games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import structs
from sqlalchemy import Connection, bindparam, func, insert, select, update

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED
from gmd.event_log.damage import note_damage, stored_rows
from gmd.event_log.database import Database
from gmd.event_log.interface import LogFailed, LogUnreachable
from gmd.event_log.tables import games, players

from .account import Account, folded
from .store import PlayersNotWritten
from .stored import DamagedPlayer, account_of

_FIELDS = Account.__struct_fields__
_INSERT = insert(players)
_UPDATE = update(players).where(players.c.player == bindparam("id")).values({name: bindparam(name) for name in _FIELDS})


class SqlPlayers:
    """A store of players with a table row for each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[Account]:
        return await self._database.read(load_players)

    async def newest_id(self) -> int:
        return await self._database.read(_newest_id)

    async def add(self, account: Account) -> None:
        row = {**structs.asdict(account), "folded": folded(account.name)}
        await self._write(lambda connection: connection.execute(_INSERT, row))

    async def change(self, account: Account) -> None:
        row = {**structs.asdict(account), "id": account.player}

        def write(connection: Connection) -> None:
            if connection.execute(_UPDATE, row).rowcount != 1:
                raise LookupError(f"there is no player {account.player}")

        await self._write(write)

    async def _write(self, write: Callable[[Connection], Any]) -> None:
        try:
            await self._database.write(write)
        except LogUnreachable:
            raise
        except LogFailed as error:
            raise PlayersNotWritten(f"the players cannot be written: {error}") from None


def load_players(connection: Connection) -> list[Account]:
    """Return the players of all intact rows, in the order of their ids; log the others."""
    found = []
    for row, player in stored_players(connection):
        if isinstance(player, Account):
            found.append(player)
        else:
            note_damage(connection, players.name, row, str(player))
    return found


def stored_players(connection: Connection) -> Iterator[tuple[object, Account | DamagedPlayer]]:
    """Yield every row's number with its player, or with the damage found, in the order of the ids."""
    for columns in stored_rows(connection, players):
        try:
            yield columns["player"], account_of(columns)
        except DamagedPlayer as damaged:
            yield columns["player"], damaged


def _newest_id(connection: Connection) -> int:
    """Return the highest id of any row, damaged or not, and of any seat, whose player's row may be lost; 0 for none."""
    ids = (players.c.player, games.c.player_white, games.c.player_black)
    queries = (select(func.max(one)).where(one.between(FIRST_REGISTERED, LAST_REGISTERED)) for one in ids)
    return max(connection.execute(query).scalar() or 0 for query in queries)
