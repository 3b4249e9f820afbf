"""The account of a registered player, and the identity that a session has proved."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from msgspec import Struct

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED

#: The id of the first registered player.
FIRST_PLAYER = FIRST_REGISTERED + 1
#: Games that a player takes at a time unless it sets a number; reconchess's client has the same default.
MAX_GAMES = 4
#: Digests of ended cookies that a player has, and their size in bytes: with one more, all cookies are ended.
MOST_ENDED, ENDED_SIZE = 32, 8


def is_registered(player: int) -> bool:
    """Return whether an id is in the range of registered players, whether or not that player exists."""
    return FIRST_REGISTERED <= player <= LAST_REGISTERED


def folded(name: str) -> str:
    """Return the form of a name that must be unique."""
    return name.lower()


def is_reserved(name: str) -> bool:
    """Return whether a name is what the pages call somebody else: the operator, a guest, a player without a name."""
    return _RESERVED.fullmatch(folded(name)) is not None


_RESERVED = re.compile(r"the operator|a guest|guest [0-9]+|player [0-9]+|open seat")


class Account(Struct, frozen=True, kw_only=True, gc=False):
    """A registered player. Nothing in it is enough to act as that player.

    A key made under a client's token can be made again from ``nonce`` and that token as long as it is unused, for a
    client whose reply was lost. The first use of the key erases the nonce.
    """

    player: int
    name: str
    created: str
    #: The digest of the player's key; None where it has been revoked.
    key: bytes | None
    #: The argon2 hash of the player's password; None without one.
    password: str | None = None
    #: The nonce that the key was derived from, together with a token; None once the key was used, or without a token.
    nonce: bytes | None = None
    #: The digest of the key before this one; while there is a nonce, its owner may repeat the rekeying with it.
    previous: bytes | None = None
    #: Digests of the tokens of the registration and of the last rekeying.
    register_token: bytes | None = None
    rekey_token: bytes | None = None
    #: The most games at a time, whether the player wants ranked games, and the bot's version: 0 before the first.
    max_games: int = MAX_GAMES
    ranked: bool = False
    version: int = 0
    #: How often all cookies of the player were ended; and the digests of single ones that were ended since, by signing
    #: out of the pages: :data:`MOST_ENDED` of :data:`ENDED_SIZE` bytes at most, None for none.
    cookie_epoch: int = 0
    ended_cookies: bytes | None = None

    def has_ended(self, cookie: bytes) -> bool:
        """Return whether a cookie was ended, by its digest."""
        ended = self.ended_cookies or b""
        return any(ended[start : start + ENDED_SIZE] == cookie for start in range(0, len(ended), ENDED_SIZE))

    def __repr__(self) -> str:
        return f"Account(player={self.player}, name={self.name!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("player", self.player), ("name", self.name)]


class Authenticated(NamedTuple):
    """A player and the digest of its key, which a session has proved once and need not send again."""

    player: int
    key: bytes
