"""Names and secrets that come with every request: verified once, and taken for verified for a while."""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from typing import NamedTuple

import trio

from gm_protocol.errors import TooMany
from gmd.addresses import source_of
from gmd.keyed_locks import KeyedLocks

from . import keys
from .account import Account, folded
from .authenticator import Authenticator

#: Seconds until a password is verified anew: a bot that polls costs one argon2 in ten minutes, and not one a request.
REMEMBERED_SECONDS = 600.0
#: Pairs remembered, some 300 bytes each. Beyond that the one that was verified first is forgotten.
MAX_REMEMBERED = 10_000


class _Verified(NamedTuple):
    """What a pair was verified against, and until when that counts."""

    key: bytes | None
    password: str | None
    until: float


class Credentials:
    """Admits those who show a name and a secret, which is the player's password or its key, with each request.

    What is remembered of a pair is a digest under a key that nobody has and that ends with the process. It counts only
    while the player has the password and the key that it had: a new key or a revocation is effective at once.
    """

    def __init__(
        self, authenticator: Authenticator, seconds: float = REMEMBERED_SECONDS, size: int = MAX_REMEMBERED
    ) -> None:
        """:param seconds: how long a pair that was verified is taken for verified.
        :param size: how many are remembered.
        """
        self._authenticator = authenticator
        self._seconds = seconds
        self._size = size
        self._secret = secrets.token_bytes(keys.SIZE)
        self._verified: OrderedDict[bytes, _Verified] = OrderedDict()
        #: For each connection, by its other end, the pair that it has shown last, if that was right.
        self._shown: OrderedDict[str, bytes] = OrderedDict()
        self._verifying = KeyedLocks()

    def __len__(self) -> int:
        return len(self._verified)

    async def admit(self, name: str, secret: str, peer: str) -> Account:
        """The player of a name, for whoever has its password or its key.

        A connection that has shown a pair before is admitted with it whatever its address has used up: a neighbour's
        wrong password is not to end a bot's game. On any other a remembered pair is compared only where an attempt is
        left: else it could be guessed without end.

        :param peer: whose attempt it is, as host:port.
        :raises Unauthorized: it is neither.
        :raises TooMany: there have been too many attempts, or there are now.
        """
        pair = self._digest(name, secret)
        was_shown = self._shown.pop(peer, None) == pair
        if not was_shown:
            self._check_attempts(name, secret, peer)
        try:
            account = await self._admit(pair, name, secret, peer, counted=not was_shown)
        except TooMany:
            if was_shown:
                self._note_shown(pair, peer)  # it was not compared
            raise
        self._note_shown(pair, peer)
        return account

    async def _admit(self, pair: bytes, name: str, secret: str, peer: str, *, counted: bool) -> Account:
        if (account := self._remembered(pair, name)) is not None:
            return account
        # A bot's processes all begin at once, and with the same pair. Those elsewhere have turns of their own.
        async with self._verifying.hold((pair, source_of(peer))):
            if (account := self._remembered(pair, name)) is not None:
                return account
            account = await self._authenticator.admit_with_secret(name, secret, peer, counted=counted)
            self._remember(pair, account)
        return account

    def _check_attempts(self, name: str, secret: str, peer: str) -> None:
        """See to it that a pair may be compared; a key may always be.

        :raises TooMany: there is no attempt left.
        """
        if not self._authenticator.is_key(name, secret, peer):
            self._authenticator.guesses.check(name, peer)

    def _note_shown(self, pair: bytes, peer: str) -> None:
        """A connection has shown a pair that is right. What a proxy has forwarded has no port of its own."""
        if not peer or peer.endswith(":0"):
            return
        self._shown[peer] = pair
        if len(self._shown) > self._size:
            self._shown.popitem(last=False)

    def _digest(self, name: str, secret: str) -> bytes:
        return hmac.digest(self._secret, f"{folded(name)}\0{secret}".encode(), "sha256")

    def _remembered(self, pair: bytes, name: str) -> Account | None:
        """The player, if the pair was verified lately and nothing has changed since."""
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
