"""Names and secrets sent with every request: verified once, then cached for a while."""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from typing import NamedTuple

import trio

from gm_protocol.errors import TooMany
from gmd.event_log.keyed_locks import KeyedLocks
from gmd.net.addresses import source_of
from gmd.players import keys
from gmd.players.account import Account, folded
from gmd.players.authenticator import Authenticator

#: Seconds until a password is verified again: a polling bot costs one argon2 in ten minutes, not one per request.
REMEMBERED_SECONDS = 600.0
#: The most pairs cached, some 300 bytes each. Beyond that the one verified first is evicted.
MAX_REMEMBERED = 10_000


class _Verified(NamedTuple):
    """The state that a pair was verified against, and the end of its validity."""

    key: bytes | None
    password: str | None
    until: float


class Credentials:
    """Admits players by a name and a secret, the password or the key, sent with each request.

    The cache holds a digest of each pair, keyed with a random secret that ends with the process. An entry is valid
    only while the player's password and key are unchanged: a new key or a revocation takes effect at once.
    """

    def __init__(
        self, authenticator: Authenticator, seconds: float = REMEMBERED_SECONDS, size: int = MAX_REMEMBERED
    ) -> None:
        """:param seconds: how long a verified pair stays valid.
        :param size: the most pairs cached.
        """
        self._authenticator = authenticator
        self._seconds = seconds
        self._size = size
        self._secret = secrets.token_bytes(keys.SIZE)
        self._verified: OrderedDict[bytes, _Verified] = OrderedDict()
        #: For each connection, by its other end, the pair that it sent last, if that was right.
        self._shown: OrderedDict[str, bytes] = OrderedDict()
        self._verifying = KeyedLocks()

    def __len__(self) -> int:
        return len(self._verified)

    async def admit(self, name: str, secret: str, peer: str) -> Account:
        """Return the player of a name, if the secret is its password or its key.

        A connection that has sent a pair before is admitted with it even if its address has no attempts left: a
        neighbour's wrong password must not end a bot's game. On other connections a cached pair is compared only while
        an attempt is left; otherwise it could be guessed without limit.

        :param peer: the sender, as host:port.
        :raises Unauthorized: it is neither.
        :raises TooMany: too many attempts have failed, or too many are in progress.
        """
        pair = self._digest(name, secret)
        was_shown = self._shown.pop(peer, None) == pair
        if not was_shown:
            self._check_attempts(name, secret, peer)
        try:
            account = await self._admit(pair, name, secret, peer, counted=not was_shown)
        except TooMany:
            if was_shown:
                self._note_shown(pair, peer)  # the pair was not compared
            raise
        self._note_shown(pair, peer)
        return account

    async def _admit(self, pair: bytes, name: str, secret: str, peer: str, *, counted: bool) -> Account:
        if (account := self._remembered(pair, name)) is not None:
            return account
        # All processes of a bot begin at once, with the same pair. Processes at other addresses do not wait for these.
        async with self._verifying.hold((pair, source_of(peer))):
            if (account := self._remembered(pair, name)) is not None:
                return account
            account = await self._authenticator.admit_with_secret(name, secret, peer, counted=counted)
            self._remember(pair, account)
        return account

    def _check_attempts(self, name: str, secret: str, peer: str) -> None:
        """Check that a pair may be compared; a right key always may.

        :raises TooMany: there is no attempt left.
        """
        if not self._authenticator.is_key(name, secret, peer):
            self._authenticator.guesses.check(name, peer)

    def _note_shown(self, pair: bytes, peer: str) -> None:
        """Record a right pair of a connection. Port 0 means a proxy's client, whose connection is unknown."""
        if not peer or peer.endswith(":0"):
            return
        self._shown[peer] = pair
        if len(self._shown) > self._size:
            self._shown.popitem(last=False)

    def _digest(self, name: str, secret: str) -> bytes:
        return hmac.digest(self._secret, f"{folded(name)}\0{secret}".encode(), "sha256")

    def _remembered(self, pair: bytes, name: str) -> Account | None:
        """Return the player, if the pair was verified a while ago and nothing has changed since."""
        verified = self._verified.get(pair)
        account = self._authenticator.registry.named(name)
        if verified is None or account is None or account.key is None:
            return None
        if (account.key, account.password) == verified[:2] and trio.current_time() < verified.until:
            return account
        del self._verified[pair]
        return None

    def _remember(self, pair: bytes, account: Account) -> None:
        self._verified[pair] = _Verified(account.key, account.password, trio.current_time() + self._seconds)
        if len(self._verified) > self._size:
            self._verified.popitem(last=False)
