"""Players in a database, beside the games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs
from sqlalchemy import Connection, bindparam, insert, select, update

from gmd.log.interface import LogFailed
from gmd.log.store import Database
from gmd.log.tables import players

from .account import Account, folded
from .store import PlayersNotWritten

_FIELDS = Account.__struct_fields__
_INSERT = insert(players)
_UPDATE = update(players).where(players.c.player == bindparam("id")).values({name: bindparam(name) for name in _FIELDS})


class SqlPlayers:
    """A row for each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[Account]:
        return await self._database.read(load_players)

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
        except LogFailed:
            raise PlayersNotWritten("the players cannot be written; nothing was done") from None


def load_players(connection: Connection) -> list[Account]:
    """Every player, in the order of their ids."""
    query = select(*(players.c[name] for name in _FIELDS)).order_by(players.c.player)
    return [Account(**row) for row in connection.execute(query).mappings()]
