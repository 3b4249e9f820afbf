"""Visitors of the pages, and the signed cookie by which the server knows them again.

The cookie names a player and is signed with a key that is kept with the games, so that a restart ends no session. For a
registered player the signature covers the digests of its key and its password, too: once one of them is revoked or
replaced, the cookie is worth nothing. So it is with the spectator key, for a spectator who has shown it.

Signing out ends a cookie, with its copies, for good. The account of a registered player has its digest; those of guests
and spectators are stored with the key of the signatures (:mod:`.session_key`).
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field, replace

from gmd.http.pages.session_key import SessionKey
from gmd.play.spectators import Spectators
from gmd.players.account import ENDED_SIZE, Account, Authenticated, is_registered
from gmd.players.registry import Registry

#: The name of the cookie.
COOKIE = "gmd_session"
#: Seconds until a cookie is stale.
SESSION_SECONDS = 90 * 86_400
#: Open ids for guests: as many as make it unlikely that two get the same, and short enough to be read out.
FIRST_GUEST, LAST_GUEST = 10**9, 10**12
#: A cookie's value: the player, or 0; 1 for a spectator who has shown the key; the time of issue in Unix seconds; a
#: random value; the nickname of a guest who has one, in base64; and the signature of these.
_VALUE = re.compile(
    r"(0|[1-9][0-9]{0,15})\.([01])\.([0-9]{1,11})\.([0-9a-f]{32})(?:\.([A-Za-z0-9_-]{2,140}))?\.([0-9a-f]{64})",
    re.ASCII,
)
#: The name of the cookie by which a guest who has left comes back.
LEFT_COOKIE = "gmd_left"
#: What a value is signed for: the session of a visitor, or coming back.
SESSION, LEFT = b"session", b"left"
#: The nicknames of guests: letters and digits of any script, and single separators.
NICKNAME, MAX_NICKNAME = re.compile(r"[^\W_]+(?:[ ._-][^\W_]+)*"), 24
NICKNAME_RULE = (
    f"a nickname has 1 to {MAX_NICKNAME} letters and digits, with single spaces, '.', '_' or '-' between them"
)
#: The most nicknames that are remembered; each returns with its guest.
MOST_NICKNAMES = 10_000


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who looks at pages.

    :ivar player: the player whose cookie was shown; None without a valid one.
    :ivar name: the player's name, as pages show it; empty without a player.
    :ivar registered: whether it is a registered player, and not a guest.
    :ivar csrf: the token for this visitor's forms. It is empty without a cookie: then there is nothing to protect.
    :ivar authenticated: the proof of a registered player's identity.
    :ivar oversees: whether the visitor has shown the spectator key.
    :ivar nickname: the name that a guest has chosen; empty for none.
    :ivar session: the random value of the cookie, which another cookie of the same session has, too.
    """

    player: int | None = None
    name: str = ""
    registered: bool = False
    csrf: str = field(default="", repr=False)
    authenticated: Authenticated | None = field(default=None, repr=False)
    oversees: bool = False
    nickname: str = ""
    session: str = field(default="", repr=False)


#: A visitor without a cookie.
NOBODY = Visitor()


def guest_name(player: int, nickname: str = "") -> str:
    """Return the name of an open id, as pages show it: nobody who is registered has such a one."""
    return f"{nickname} (guest)" if nickname else f"Guest {player}"


def is_nickname(text: str) -> bool:
    """Return whether a guest may go by a name."""
    return len(text) <= MAX_NICKNAME and NICKNAME.fullmatch(text) is not None


class Sessions:
    """Issues and reads the cookies of visitors."""

    def __init__(self, registry: Registry, spectators: Spectators, key: SessionKey) -> None:
        self._registry = registry
        self._spectators = spectators
        self._key = key
        self._nicknames: dict[int, str] = {}

    def guest(self) -> int:
        """Return an open id for a new guest."""
        return FIRST_GUEST + secrets.randbelow(LAST_GUEST - FIRST_GUEST)

    def name_of_guest(self, player: int) -> str:
        """Return the name of an open id, with the nickname that it has had since the daemon started."""
        return guest_name(player, self._nicknames.get(player, ""))

    def forget_nickname(self, player: int | None) -> None:
        """Forget a guest's nickname: it has another one, or none, from now on."""
        if player is not None:
            self._nicknames.pop(player, None)

    def issue(
        self,
        player: int | None,
        *,
        oversees: bool = False,
        nickname: str = "",
        session: str = "",
        purpose: bytes = SESSION,
    ) -> str:
        """Return the value of a cookie for a player, or for a spectator without one.

        :param oversees: whether the visitor has shown the spectator key.
        :param nickname: a guest's.
        :param session: the random value of the visitor's present cookie, to go on with its session.
        """
        unsigned = f"{player or 0}.{oversees:d}.{int(time.time())}.{session or secrets.token_hex(16)}"
        if nickname:
            unsigned += f".{urlsafe_b64encode(nickname.encode()).decode().rstrip('=')}"
        return f"{unsigned}.{self._signature(unsigned, self._account(player), purpose, oversees=oversees)}"

    def read(self, value: str | None, purpose: bytes = SESSION) -> Visitor:
        """Return the visitor of a cookie's value; nobody if it is missing, forged, stale or of a revoked player.

        :param purpose: what it has to be signed for.
        """
        found = _VALUE.fullmatch(value or "")
        if found is None or value is None:
            return NOBODY
        player, oversees, issued = int(found[1]) or None, found[2] == "1", int(found[3])
        account = self._account(player)
        expected = self._signature(value.rpartition(".")[0], account, purpose, oversees=oversees)
        if not hmac.compare_digest(expected, found[6]) or time.time() - issued > SESSION_SECONDS:
            return NOBODY
        csrf = self._sign(f"form\0{found[4]}".encode())
        if player is None or not is_registered(player):
            if self._key.has_ended(_digest(found[4]), oversees=oversees):
                return NOBODY
            return self._guest(player, found[5] or "", Visitor(csrf=csrf, oversees=oversees, session=found[4]))
        if account is None or account.key is None or account.has_ended(_digest(found[4])):
            return NOBODY
        return Visitor(player, account.name, True, csrf, Authenticated(player, account.key), oversees, "", found[4])

    def _guest(self, player: int | None, encoded: str, visitor: Visitor) -> Visitor:
        """Return a guest with its nickname, which is noted, or a spectator."""
        if player is None:
            return visitor
        nickname = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode() if encoded else ""
        if nickname and self._nicknames.pop(player, "") != nickname and len(self._nicknames) >= MOST_NICKNAMES:
            del self._nicknames[next(iter(self._nicknames))]
        if nickname:
            self._nicknames[player] = nickname
        return replace(visitor, player=player, name=self.name_of_guest(player), nickname=nickname)

    async def end(self, value: str, purpose: bytes = SESSION) -> None:
        """Make a cookie worthless.

        :raises LogFailed: storing that failed, and it stays valid; or it may have, as the error says.
        """
        visitor, found = self.read(value, purpose), _VALUE.fullmatch(value)
        if found is None or not visitor.csrf:
            return
        if visitor.registered and visitor.player is not None:
            await self._registry.end_cookie(visitor.player, _digest(found[4]))
        else:
            await self._key.end(_digest(found[4]), oversees=visitor.oversees)

    def _account(self, player: int | None) -> Account | None:
        return None if player is None else self._registry.get(player)

    def _signature(self, unsigned: str, account: Account | None, purpose: bytes = SESSION, *, oversees: bool) -> str:
        """Return the signature of a cookie; it ends with the secrets that the visitor has shown."""
        known = b""
        if account is not None:
            known = (account.key or b"") + b"\0" + (account.password or "").encode()
            known += b"\0%d" % account.cookie_epoch if account.cookie_epoch else b""  # older cookies have no number
        seal = self._spectators.seal if oversees else b""
        return self._sign(purpose + f"\0{unsigned}\0".encode() + seal + b"\0" + known)

    def _sign(self, text: bytes) -> str:
        return hmac.digest(self._key.secret, text, "sha256").hex()


def _digest(random: str) -> bytes:
    """Return what is stored of an ended cookie, of its random value."""
    return bytes.fromhex(random)[:ENDED_SIZE]
