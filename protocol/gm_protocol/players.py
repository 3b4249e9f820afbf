"""The messages about registered players."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from .base import PlayerId, PlayerName, Reply, Request, shown


class Register(Request, tag="register", kw_only=True):
    """A request to register a player. Repeated with the same name and token, it shows the same player."""

    retry = "token"
    name: PlayerName  #: The name wanted.
    password: str | None = None  #: 8 to 256 characters.
    invite: str | None = None  #: The server's code, if it wants one.
    token: str | None = None  #: 1 to 256 characters, for a retry.


class Rekey(Request, tag="rekey", kw_only=True):
    """A request for a new key for the player; the operator may send its ``name`` instead of the id."""

    retry = "token"
    name: PlayerName | None = None  #: Operator: instead of player.
    token: str | None = None  #: 1 to 256 characters, for a retry.


class Revoke(Request, tag="revoke", kw_only=True):
    """The operator's request to revoke a player's key and password, and to end its sessions."""

    retry = "always"
    name: PlayerName | None = None  #: Instead of player.


class ListPlayers(Request, tag="players", kw_only=True):
    """The operator's request for a page of registered players, newest first; with ``here``, only present ones."""

    retry = "always"
    here: bool = False  #: Whether to list only players who are present.
    limit: Annotated[int, Meta(ge=1, le=100)] = 100  #: The most rows.
    before: PlayerId | None = None  #: Only players with a lower id.


class KeyReply(Reply, kw_only=True):
    """A player and its key; the key is null in the reply to a repeated request if it was used already."""

    player: int  #: The player.
    name: str  #: Its name.
    key: str | None  #: The player's key; null: it has been used.
    error: None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown(self))})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return shown(self)


class RevokedReply(Reply, kw_only=True):
    """The player whose key was revoked."""

    player: int  #: The player.
    name: str  #: Its name.
    error: None = None


class PlayerRow(Struct, kw_only=True, frozen=True):
    """A registered player, as shown to the operator.

    ``revoked``: it has no key. ``here``: it has a session, or sent a request lately. ``room``: how many more games it
    takes.
    """

    player: int  #: The player.
    name: str  #: Its name.
    password: bool  #: Whether it has one.
    revoked: bool  #: Whether it has no key any more.
    here: bool  #: Whether it is present.
    room: int  #: How many more games it takes.
    created: str  #: UTC: 2026-11-21T04:41:00Z.


class PlayersReply(Reply, kw_only=True):
    """A page of players, and the ``before`` to send for the next page; null at the end."""

    players: list[PlayerRow]  #: The page.
    before: int | None  #: For the next page; null: the end.
    error: None = None
