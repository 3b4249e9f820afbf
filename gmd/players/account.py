"""What is kept of a registered player."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED

#: The id of the first player who registers.
FIRST_PLAYER = FIRST_REGISTERED + 1
#: Games that a player takes at a time who has not said how many: as many as reconchess's client does.
MAX_GAMES = 4


def is_registered(player: int) -> bool:
    """Whether an id is one of registered players, be there one of that id or not."""
    return FIRST_REGISTERED <= player <= LAST_REGISTERED


def folded(name: str) -> str:
    """What is unique of a name."""
    return name.lower()


class Account(Struct, frozen=True, kw_only=True, gc=False):
    """A registered player. Nothing in it lets anybody act as that player.

    A key that was made under a client's token can be made again while it is unused, for a client whose reply was lost:
    out of ``nonce`` and that token. Its first use erases the nonce.
    """

    player: int
    name: str
    created: str
    #: The digest of its key; None where it has been revoked.
    key: bytes | None
    #: The argon2 hash of its password, if it has one.
    password: str | None = None
    #: What its key was derived from, together with the token; None once it has been used, or where there is no token.
    nonce: bytes | None = None
    #: The digest of the key before this one, which its owner may repeat the rekeying with while there is a nonce.
    previous: bytes | None = None
    #: Digests of the tokens it was registered under and last rekeyed under.
    register_token: bytes | None = None
    rekey_token: bytes | None = None
    #: How many games it takes at a time, whether it wants ranked ones, and the version of the bot: 0 before the first.
    max_games: int = MAX_GAMES
    ranked: bool = False
    version: int = 0

    def __repr__(self) -> str:
        return f"Account(player={self.player}, name={self.name!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("player", self.player), ("name", self.name)]
