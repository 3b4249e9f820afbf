"""Players stored in the database of the games. No row is trusted: damage is reported with the column and its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import structs
from sqlalchemy import Connection, bindparam, func, insert, select, update

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED, PlayerName
from gmd.event_log.damage import DamagedRow, intact_rows
from gmd.event_log.interface import Database
from gmd.event_log.tables import games, players
from gmd.players.account import ENDED_SIZE, Account, folded, is_registered

_DIGEST_SIZE = 32
_DIGESTS = ("key", "nonce", "previous", "register_token", "rekey_token")
_SETTINGS = ("max_games", "ranked", "version")


def account_of(columns: Mapping[str, Any]) -> Account:
    """Return the player of a row.

    :param columns: all columns of the table by their names, as the database stores them.
    :raises DamagedRow: a column has a value that was never written to it.
    """
    if not isinstance(player := columns["player"], int) or not is_registered(player):
        raise DamagedRow(f"player is {player!r}, which is not a player's id")
    for name, kind in _KINDS.items():
        _convert(name, columns[name], kind)
    for name in _DIGESTS:
        if (value := columns[name]) is not None and not (isinstance(value, bytes) and len(value) == _DIGEST_SIZE):
            raise DamagedRow(f"{name} is not a digest of {_DIGEST_SIZE} bytes")
    ended = columns["ended_cookies"]
    if ended is not None and not (isinstance(ended, bytes) and len(ended) % ENDED_SIZE == 0):
        raise DamagedRow(f"ended_cookies is not digests of {ENDED_SIZE} bytes")
    if columns["folded"] != folded(columns["name"]):
        raise DamagedRow(f"folded is {columns['folded']!r}, and name is {columns['name']!r}")
    return Account(**{name: columns[name] for name in Account.__struct_fields__} | {"ranked": bool(columns["ranked"])})


_KINDS: Mapping[str, Any] = {
    "name": PlayerName,
    "created": str,
    "password": str | None,
    "max_games": int,
    "ranked": int | bool,
    "version": int,
    "cookie_epoch": int,
}


def _convert(name: str, value: object, kind: Any) -> None:
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError:
        raise DamagedRow(f"{name} is {value!r:.80}") from None


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
        await self._database.write(lambda connection: connection.execute(_INSERT, row))

    async def change(self, account: Account) -> None:
        row = {**structs.asdict(account), "id": account.player}

        def write(connection: Connection) -> None:
            if connection.execute(_UPDATE, row).rowcount != 1:
                raise LookupError(f"there is no player {account.player}")

        await self._database.write(write)


def load_players(connection: Connection) -> list[Account]:
    """Return the players of all intact rows, in the order of their ids; log the others."""
    return intact_rows(connection, players, account_of)


def _newest_id(connection: Connection) -> int:
    """Return the highest id of any row, damaged or not, and of any seat, whose player's row may be lost; 0 for none."""
    ids = (players.c.player, games.c.player_white, games.c.player_black)
    queries = (select(func.max(one)).where(one.between(FIRST_REGISTERED, LAST_REGISTERED)) for one in ids)
    return max(connection.execute(query).scalar() or 0 for query in queries)
