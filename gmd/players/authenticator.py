"""Who may act as a registered player: the one place where keys and passwords count.

Every refusal costs the same work and has the same words, be there such a player or not: one digest and one comparison
for a key, one run of argon2 for a password. The words say which of these was sent, and nothing of what it was compared
with.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from functools import partial

from gm_protocol.errors import GmError, Unauthorized, quote
from gmd.rate_limiter import RateLimiter

from . import keys
from .account import Account
from .authenticated import Authenticated as Authenticated
from .guesses import Guesses
from .keys import Digest
from .passwords import Passwords
from .presence import Presence
from .registry import Registry

MINUTE, HOUR = 60.0, 3_600.0
#: What to do about a wrong key, in the words of gmcat and of all the clients.
CHECK_KEY = "check the key (GM_KEY, or --key @FILE)"


class Authenticator:
    """Admits those who prove who they are.

    :ivar registry: the players.
    :ivar passwords: what compares passwords.
    :ivar failures: the attempts that failed.
    :ivar guesses: how often a password may be compared.
    :ivar registrations: the players registered.
    :ivar presence: who is here.
    """

    def __init__(
        self,
        registry: Registry,
        max_failures: int,
        max_registrations: int,
        passwords: Passwords | None = None,
        digest: Digest = keys.digest,
        presence_seconds: float = MINUTE,
    ) -> None:
        """:param max_failures: attempts that may fail, from one address in a minute.
        :param max_registrations: players that one address may register in an hour.
        :param presence_seconds: how long a player is taken to be here after a request that came without a session.
        """
        self.registry = registry
        self.passwords = passwords or Passwords()
        self.failures = RateLimiter("max_failures_per_minute", max_failures, MINUTE)
        self.guesses = Guesses(self.failures)
        registry.when_revoked(self._forget_revoked)
        self.registrations = RateLimiter("max_registrations_per_hour", max(1, max_registrations), HOUR)
        self.presence = Presence(registry, presence_seconds)
        self._digest = digest
        #: What stands for the digest of a key that nobody has.
        self._nobodys = secrets.token_bytes(keys.SIZE)

    def close(self) -> None:
        """Let go of its threads, when nobody comes any more."""
        self.passwords.close()

    def admit(self, player: int, key: str | None, authenticated: Authenticated | None, peer: str) -> None:
        """Let a request act as a registered player.

        :param proof: its session's; where a key comes with the request, that one counts.
        :raises Unauthorized: the key does not belong to this player.
        :raises TooMany: too many failed attempts have come from this address.
        """
        account = self.registry.get(player)
        if key is None and authenticated is not None and account is not None and authenticated == (player, account.key):
            return
        if not self._opens(account, key, peer):
            raise self._failed(refused_id(player, has_key=key is not None), peer)

    def admit_named(self, name: str, key: str | None, peer: str) -> Account:
        """The player of a name, for whoever has its key.

        :raises Unauthorized: whoever asks does not.
        :raises TooMany: nor did they lately.
        """
        account = self.registry.named(name)
        if not self._opens(account, key, peer) or account is None:
            raise self._failed(refused_key(name) if key is not None else without_secret(name), peer)
        return self.registry.get(account.player) or account

    async def admit_with_password(self, name: str, password: str, peer: str) -> Account:
        """The player of a name, for whoever has its password.

        A password can be guessed, so it is not compared where all attempts are used up (:class:`Guesses`).

        :raises Unauthorized: whoever asks does not.
        :raises TooMany: there have been too many attempts, or there are now.
        """
        account = await self._with_password(name, password, peer)
        if account is None:
            raise Unauthorized(f"password: {wrong_password(name)}")
        return account

    async def _with_password(self, name: str, password: str, peer: str, *, counted: bool = True) -> Account | None:
        """Return the player of a name if the password is the player's.

        :param counted: whether it uses up an attempt where it is wrong.
        :raises TooMany: there have been too many attempts, or there are now; it was not compared, and counts for none.
        """
        account = self.registry.named(name)
        give_back = self.guesses.take(name, peer if counted else "")
        stored = None if account is None else account.password
        if await self._verify(stored, password, name, peer, give_back):
            account = self.registry.named(name)  # which may have lost it meanwhile
            if account is not None and account.password == stored and account.key is not None:
                give_back()
                self.guesses.know(name, peer)
                return account
        return None

    async def _verify(
        self, stored: str | None, password: str, name: str, peer: str, give_back: Callable[[], None]
    ) -> bool:
        """Compare a password, in the turn of its address.

        :param give_back: gives the attempt back, which is done where nothing was compared.
        :raises TooMany: too many wait already.
        """
        try:
            return await self.passwords.verify(stored, password, self.guesses.client(name, peer))
        except BaseException:
            give_back()
            raise

    async def verify_again(self, account: Account, password: str | None, peer: str) -> bool:
        """Whether a password is the one that a player was registered with; a wrong one uses up an attempt.

        :raises TooMany: there have been too many attempts, or there are now.
        """
        self.failures.take(peer)
        give_back = partial(self.failures.give_back, peer)
        if password is None or not await self._verify(account.password, password, account.name, peer, give_back):
            return False
        give_back()
        return True

    async def admit_with_secret(self, name: str, secret: str, peer: str, *, counted: bool = True) -> Account:
        """The player of a name, for whoever has its key or its password, and does not say which it is.

        :param counted: whether a wrong one uses up an attempt.
        :raises Unauthorized: it is neither.
        :raises TooMany: there have been too many attempts, or there are now.
        """
        account = self.registry.named(name)
        if self._opens(account, secret, peer) and account is not None:
            return self.registry.get(account.player) or account
        account = await self._with_password(name, secret, peer, counted=counted)
        if account is None:
            raise Unauthorized(f"authorization: {wrong_password(name)}; without a password, a player sends its key")
        return account

    def is_key(self, name: str, secret: str, peer: str) -> bool:
        """Whether a secret is the key of the player of a name, which nobody guesses. It notes that it has been used."""
        return self._opens(self.registry.named(name), secret, peer)

    def admit_again(
        self, player: int, key: str | None, token: str | None, authenticated: Authenticated | None, peer: str
    ) -> None:
        """Let a request give a player another key: one with its key, or one that did so before and has lost the reply.

        :raises Unauthorized: it is neither.
        :raises TooMany: too many failed attempts have come from this address.
        """
        account = self.registry.get(player)
        before, named = self._nobodys, self._nobodys
        if account is not None and account.nonce is not None:
            before, named = account.previous or before, account.rekey_token or named
        is_before = hmac.compare_digest(before, self._digest(key or ""))
        is_named = hmac.compare_digest(named, self._digest(token or ""))
        if not (is_before and is_named):
            self.admit(player, key, authenticated, peer)

    def authenticated(self, account: Account) -> Authenticated:
        """What a session of that player's keeps."""
        assert account.key is not None
        return Authenticated(account.player, account.key)

    def _opens(self, account: Account | None, key: str | None, peer: str) -> bool:
        """Whether a key is a player's. It notes that it has been used, and from where."""
        expected = None if account is None else account.key
        given = self._digest(key or "")
        if not hmac.compare_digest(given, expected or self._nobodys) or account is None or expected is None:
            return False
        self.registry.note_use(account)
        self.guesses.know(account.name, peer)
        return True

    def _forget_revoked(self, player: int) -> None:
        account = self.registry.get(player)
        assert account is not None
        self.guesses.forget(account.name)

    def _failed(self, words: str, peer: str) -> GmError:
        """The refusal of an attempt with a key.

        A right key is admitted however many wrong ones came from its address: nobody guesses one, and a bot that goes
        on sending a wrong key is not to shut out its neighbours.

        :raises TooMany: in place of it.
        """
        self.failures.take(peer)
        return Unauthorized(words)


def refused_id(player: int, *, has_key: bool) -> str:
    """Return the sentence for a request that may not act as the player of an id.

    :param has_key: whether a key was sent, right or wrong.
    """
    if has_key:
        return f"player: the key does not belong to player {player}; {CHECK_KEY}"
    return f"player: {player} is a registered player's id, and acts with its key alone"


def refused_key(name: str) -> str:
    """Return the sentence for a name and a key that do not belong together."""
    return f"name: the key does not belong to {quote(name)}; {CHECK_KEY}"


def without_secret(name: str) -> str:
    """Return the sentence for a name that comes with neither a key nor a password."""
    return f"name: {quote(name)} acts with its key or its password alone; give one (GM_KEY, or --key @FILE)"


def wrong_password(name: str) -> str:
    """Return the end of the sentence for a name and a password that do not belong together."""
    return f"wrong password for {quote(name)}; check both"
