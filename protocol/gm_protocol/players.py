"""The messages about registered players."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from .base import PlayerId, PlayerName, Reply, Request, shown


class Register(Request, tag="register", kw_only=True):
    """Makes a registered player. The same name and token again show the same player."""

    name: PlayerName
    password: str | None = None
    token: str | None = None


class Rekey(Request, tag="rekey", kw_only=True):
    """Gives the player another key; the operator may give its ``name`` in place of the id."""

    name: PlayerName | None = None
    token: str | None = None


class Revoke(Request, tag="revoke", kw_only=True):
    """The operator's: takes a player's key and password away, and ends its sessions."""

    name: PlayerName | None = None


class ListPlayers(Request, tag="players", kw_only=True):
    """The operator's: a page of registered players, newest first; with ``here`` of those who are here."""

    here: bool = False
    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    before: PlayerId | None = None


class KeyReply(Reply, kw_only=True):
    """A player and its key; null where a repeated request finds the key used: then somebody has it."""

    player: int
    name: str
    key: str | None
    error: None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown(self))})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return shown(self)


class RevokedReply(Reply, kw_only=True):
    """The player who has no key any more."""

    player: int
    name: str
    error: None = None


class PlayerRow(Struct, kw_only=True, frozen=True):
    """A registered player as the operator is shown it.

    ``revoked``: it has no key. ``here``: it may be expected to answer. ``room``: how many more games it takes.
    """

    player: int
    name: str
    password: bool
    revoked: bool
    here: bool
    room: int
    created: str


class PlayersReply(Reply, kw_only=True):
    """A page of players, and what to send as ``before`` for the next one; null at the end."""

    players: list[PlayerRow]
    before: int | None
    error: None = None
