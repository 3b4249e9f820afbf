"""Players in a database, beside the games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import trio
from msgspec import structs
from sqlalchemy import Connection, bindparam, insert, select, update

from gmd.log.store import Database
from gmd.log.tables import players
from gmd.logger import get_logger

from .account import Account, folded
from .store import PlayersNotWritten

logger = get_logger(__name__)

_FIELDS = Account.__struct_fields__
_INSERT = insert(players)
_UPDATE = update(players).where(players.c.player == bindparam("id")).values({name: bindparam(name) for name in _FIELDS})


class SqlPlayers:
    """A row for each, in the database of a :class:`~gmd.log.store.Store`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[Account]:
        return await trio.to_thread.run_sync(self._load)

    def _load(self) -> list[Account]:
        query = select(*(players.c[name] for name in _FIELDS)).order_by(players.c.player)
        with self._database.engine.connect() as connection:
            return [Account(**row) for row in connection.execute(query).mappings()]

    async def add(self, account: Account) -> None:
        row = {**structs.asdict(account), "folded": folded(account.name)}
        await self._write(lambda connection: connection.execute(_INSERT, row), account)

    async def change(self, account: Account) -> None:
        row = {**structs.asdict(account), "id": account.player}

        def write(connection: Connection) -> None:
            if connection.execute(_UPDATE, row).rowcount != 1:
                raise LookupError(f"there is no player {account.player}")

        await self._write(write, account)

    async def _write(self, write: Callable[[Connection], Any], account: Account) -> None:
        try:
            await trio.to_thread.run_sync(self._in_transaction, write)
        except Exception as error:
            # An error of the database's repeats the row, which is nobody's business, so that only its kind is logged.
            cause = getattr(error, "orig", error)
            logger.error("players cannot be written", reason=f"{type(cause).__name__}: {cause}", player=account.player)
            raise PlayersNotWritten("the players cannot be written; nothing was done") from None

    def _in_transaction(self, write: Callable[[Connection], Any]) -> None:
        with self._database.writing, self._database.engine.begin() as connection:
            write(connection)
