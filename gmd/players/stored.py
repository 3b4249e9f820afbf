"""Decodes players from database rows, none of which is trusted: damage is reported with the column and its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import structs

from gm_protocol.base import PlayerName

from .account import Account, folded, is_registered

_DIGEST_SIZE = 32
_DIGESTS = ("key", "nonce", "previous", "register_token", "rekey_token")
_SETTINGS = ("max_games", "ranked", "version")


class DamagedPlayer(Exception):
    """Raised for columns that are not a player's; the message names the first such column, with its value."""


def account_of(columns: Mapping[str, Any]) -> Account:
    """Return the player of a row.

    :param columns: all columns of the table by their names, as the database stores them.
    :raises DamagedPlayer: a column has a value that was never written to it.
    """
    if not isinstance(player := columns["player"], int) or not is_registered(player):
        raise DamagedPlayer(f"player is {player!r}, which is not a player's id")
    for name, kind in _KINDS.items():
        _convert(name, columns[name], kind)
    for name in _DIGESTS:
        if (value := columns[name]) is not None and not (isinstance(value, bytes) and len(value) == _DIGEST_SIZE):
            raise DamagedPlayer(f"{name} is not a digest of {_DIGEST_SIZE} bytes")
    if columns["folded"] != folded(columns["name"]):
        raise DamagedPlayer(f"folded is {columns['folded']!r}, and name is {columns['name']!r}")
    return Account(**{name: columns[name] for name in Account.__struct_fields__} | {"ranked": bool(columns["ranked"])})


def without_damage(columns: Mapping[str, Any]) -> Account | None:
    """Return what can be kept of a damaged row, so that its id and its name stay that player's; None for nothing.

    A player with a damaged key can do nothing until it gets a new one; damaged settings become the defaults.
    """
    player, name = columns["player"], columns["name"]
    if not isinstance(player, int) or not is_registered(player):
        return None
    whole = structs.asdict(Account(player=player, name=f"damaged-{player}", created="1970-01-01T00:00:00Z", key=None))
    whole |= {"folded": folded(whole["name"]), "ranked": 0}
    if _is_whole(whole | {"name": name, "folded": folded(name) if isinstance(name, str) else None}):
        whole |= {"name": name, "folded": folded(name)}
        for column in ("created", "key", "password", *_SETTINGS):
            if _is_whole(whole | {column: columns[column]}):
                whole[column] = columns[column]
    return account_of(whole)


def _is_whole(columns: Mapping[str, Any]) -> bool:
    try:
        account_of(columns)
    except DamagedPlayer:
        return False
    return True


_KINDS: Mapping[str, Any] = {
    "name": PlayerName,
    "created": str,
    "password": str | None,
    "max_games": int,
    "ranked": int | bool,
    "version": int,
}


def _convert(name: str, value: object, kind: Any) -> None:
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError:
        raise DamagedPlayer(f"{name} is {value!r:.80}") from None
