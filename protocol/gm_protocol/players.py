"""The messages about registered players."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from .base import PlayerId, PlayerName, Reply, Request, shown


class Register(Request, tag="register", kw_only=True):
    """A request to register a player. Repeated with the same name and token, it shows the same player."""

    name: PlayerName
    password: str | None = None
    token: str | None = None


class Rekey(Request, tag="rekey", kw_only=True):
    """A request for a new key for the player; the operator may send its ``name`` instead of the id."""

    name: PlayerName | None = None
    token: str | None = None


class Revoke(Request, tag="revoke", kw_only=True):
    """The operator's request to revoke a player's key and password, and to end its sessions."""

    name: PlayerName | None = None


class ListPlayers(Request, tag="players", kw_only=True):
    """The operator's request for a page of registered players, newest first; with ``here``, only those who are here."""

    here: bool = False
    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    before: PlayerId | None = None


class KeyReply(Reply, kw_only=True):
    """A player and its key; the key is null in the reply to a repeated request if it was used already."""

    player: int
    name: str
    key: str | None
    error: None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown(self))})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return shown(self)


class RevokedReply(Reply, kw_only=True):
    """The player whose key was revoked."""

    player: int
    name: str
    error: None = None


class PlayerRow(Struct, kw_only=True, frozen=True):
    """A registered player, as shown to the operator.

    ``revoked``: it has no key. ``here``: it has a session, or sent a request lately. ``room``: how many more games it
    takes.
    """

    player: int
    name: str
    password: bool
    revoked: bool
    here: bool
    room: int
    created: str


class PlayersReply(Reply, kw_only=True):
    """A page of players, and the ``before`` to send for the next page; null at the end."""

    players: list[PlayerRow]
    before: int | None
    error: None = None
