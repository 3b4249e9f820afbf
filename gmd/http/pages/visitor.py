"""Visitors of the pages, and the signed cookie by which the server knows them again.

The cookie names a player and is signed with a key that is kept with the games, so that a restart ends no session. For a
registered player the signature covers the digests of its key and its password, too: once one of them is revoked or
replaced, the cookie is worth nothing. So it is with the spectator key, for a spectator who has shown it.

Signing out ends a cookie, with its copies: a registered player's for good, as the player's account has its digest; that
of a guest or a spectator until the daemon restarts.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from gmd.event_log.directory import SESSION_KEY, DataError, write_private
from gmd.play.spectators import Spectators
from gmd.players.account import ENDED_SIZE, Account, Authenticated, is_registered
from gmd.players.registry import Registry

#: The name of the cookie.
COOKIE = "gmd_session"
#: Seconds until a cookie is stale.
SESSION_SECONDS = 90 * 86_400
#: Open ids for guests: as many as make it unlikely that two get the same, and short enough to be read out.
FIRST_GUEST, LAST_GUEST = 10**9, 10**12
#: The most ended cookies of guests, and of spectators with the key, that are known: some 100 bytes each.
MOST_REMEMBERED = 20_000
#: A cookie's value: the player, or 0; 1 for a spectator who has shown the key; the time of issue in Unix seconds; a
#: random value; and the signature of these four.
_VALUE = re.compile(r"(0|[1-9][0-9]{0,15})\.([01])\.([0-9]{1,11})\.([0-9a-f]{32})\.([0-9a-f]{64})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who looks at pages.

    :ivar player: the player whose cookie was shown; None without a valid one.
    :ivar name: the player's name, as pages show it; empty without a player.
    :ivar registered: whether it is a registered player, and not a guest.
    :ivar csrf: the token for this visitor's forms. It is empty without a cookie: then there is nothing to protect.
    :ivar authenticated: the proof of a registered player's identity.
    :ivar oversees: whether the visitor has shown the spectator key.
    """

    player: int | None = None
    name: str = ""
    registered: bool = False
    csrf: str = field(default="", repr=False)
    authenticated: Authenticated | None = field(default=None, repr=False)
    oversees: bool = False


#: A visitor without a cookie.
NOBODY = Visitor()


def guest_name(player: int) -> str:
    """Return the name of an open id, as pages show it."""
    return f"Guest {player}"


class Sessions:
    """Issues and reads the cookies of visitors."""

    def __init__(self, registry: Registry, spectators: Spectators, secret: bytes) -> None:
        """:param secret: the key of the signatures; every cookie ends with it."""
        self._registry = registry
        self._spectators = spectators
        self._secret = secret
        #: The random values of ended cookies, the oldest first: of spectators who have shown the key, and of guests,
        #: who are not to displace those.
        self._ended: dict[bool, OrderedDict[str, None]] = {False: OrderedDict(), True: OrderedDict()}

    def guest(self) -> int:
        """Return an open id for a new guest."""
        return FIRST_GUEST + secrets.randbelow(LAST_GUEST - FIRST_GUEST)

    def issue(self, player: int | None, *, oversees: bool = False) -> str:
        """Return the value of a cookie for a player, or for a spectator without one.

        :param oversees: whether the visitor has shown the spectator key.
        """
        unsigned = f"{player or 0}.{oversees:d}.{int(time.time())}.{secrets.token_hex(16)}"
        return f"{unsigned}.{self._signature(unsigned, self._account(player), oversees=oversees)}"

    def read(self, value: str | None) -> Visitor:
        """Return the visitor of a cookie's value; nobody if it is missing, forged, stale or of a revoked player."""
        found = _VALUE.fullmatch(value or "")
        if found is None or value is None:
            return NOBODY
        player, oversees, issued = int(found[1]) or None, found[2] == "1", int(found[3])
        account = self._account(player)
        if found[4] in self._ended[oversees]:
            return NOBODY
        expected = self._signature(value.rpartition(".")[0], account, oversees=oversees)
        if not hmac.compare_digest(expected, found[5]) or time.time() - issued > SESSION_SECONDS:
            return NOBODY
        csrf = self._sign(f"form\0{found[4]}".encode())
        if player is None:
            return Visitor(csrf=csrf, oversees=oversees)
        if not is_registered(player):
            return Visitor(player, guest_name(player), False, csrf, None, oversees)
        if account is None or account.key is None or account.has_ended(_digest(found[4])):
            return NOBODY
        return Visitor(player, account.name, True, csrf, Authenticated(player, account.key), oversees)

    async def end(self, value: str) -> None:
        """Make a cookie worthless.

        :raises LogFailed: storing that failed, and it stays valid; or it may have, as the error says.
        """
        visitor, found = self.read(value), _VALUE.fullmatch(value)
        if found is None or not visitor.csrf:
            return
        if visitor.registered and visitor.player is not None:
            await self._registry.end_cookie(visitor.player, _digest(found[4]))
        else:
            ended = self._ended[visitor.oversees]
            ended[found[4]] = None
            if len(ended) > MOST_REMEMBERED:
                ended.popitem(last=False)

    def _account(self, player: int | None) -> Account | None:
        return None if player is None else self._registry.get(player)

    def _signature(self, unsigned: str, account: Account | None, *, oversees: bool) -> str:
        """Return the signature of a cookie; it ends with the secrets that the visitor has shown."""
        known = b""
        if account is not None:
            known = (account.key or b"") + b"\0" + (account.password or "").encode()
            known += b"\0%d" % account.cookie_epoch if account.cookie_epoch else b""  # older cookies have no number
        seal = self._spectators.seal if oversees else b""
        return self._sign(f"session\0{unsigned}\0".encode() + seal + b"\0" + known)

    def _sign(self, text: bytes) -> str:
        return hmac.digest(self._secret, text, "sha256").hex()


def _digest(random: str) -> bytes:
    """Return what an account has of an ended cookie, of its random value."""
    return bytes.fromhex(random)[:ENDED_SIZE]


#: The size of the key in bytes.
SIZE = 32


def session_key(directory: Path | None, database: str | None = None, term: int = 0) -> bytes:
    """Return the key, which is made at the first start; a new one where games are in memory. Block for a moment.

    Removing the file signs all visitors out.

    :param directory: the data directory, locked for this process; None for none.
    :param database: the URL of the database that has the games, and so the key; None for none.
    :param term: that under which this daemon serves the database.
    :raises DataError: the key cannot be read or made.
    """
    if database is not None:
        return _shared(database, term)
    if directory is None:
        return secrets.token_bytes(SIZE)
    file = directory / SESSION_KEY
    try:
        if not file.exists():
            write_private(file, secrets.token_bytes(SIZE))
        return _read(file)
    except OSError as error:
        raise DataError(f"data: {file} cannot be used: {error.strerror}") from error


def _shared(database: str, term: int) -> bytes:
    import psycopg

    from gmd.event_log.postgres_connection import shared_secret

    try:
        return shared_secret(database, term, "pages")
    except psycopg.Error as error:
        raise DataError(f"database: it cannot be used: {str(error).strip()}") from error


def _read(file: Path) -> bytes:
    key = file.read_bytes()
    if len(key) != SIZE:
        raise DataError(f"data: {file} has {len(key)} bytes instead of {SIZE}; remove it, and visitors sign in again")
    return key
