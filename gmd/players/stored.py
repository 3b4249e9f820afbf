"""Decodes players from database rows, none of which is trusted: damage is reported with the column and its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

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
