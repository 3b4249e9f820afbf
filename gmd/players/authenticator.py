"""Authentication of registered players: the only place that checks keys and passwords.

Every refusal costs the same work and uses the same sentence, whether or not the player exists: one digest and one
comparison for a key, one run of argon2 for a password. The sentence names which of these was sent, and nothing of the
value it was compared with.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from functools import partial

from gm_protocol.errors import GmError, Unauthorized, quote
from gmd.players import keys
from gmd.players.account import Account
from gmd.players.account import Authenticated as Authenticated
from gmd.players.guesses import Guesses
from gmd.players.keys import Digest
from gmd.players.passwords import Passwords
from gmd.players.presence import Presence
from gmd.players.rate_limiter import RateLimiter
from gmd.players.registry import Registry

MINUTE, HOUR = 60.0, 3_600.0
#: The advice for a wrong key, in the terms of gmcat and of all the clients.
CHECK_KEY = "check the key (GM_KEY, or --key @FILE)"


class Authenticator:
    """Authenticates registered players.

    :ivar registry: the players.
    :ivar passwords: compares passwords.
    :ivar failures: counts failed attempts.
    :ivar guesses: limits how often a password may be compared.
    :ivar registrations: counts registrations.
    :ivar presence: tracks which players are present.
    """

    def __init__(
        self,
        registry: Registry,
        max_failures: int,
        max_registrations: int,
        passwords: Passwords | None = None,
        digest: Digest = keys.digest,
        presence_seconds: float = MINUTE,
        invite: str | None = None,
    ) -> None:
        """:param max_failures: failed attempts allowed from one address in a minute.
        :param max_registrations: registrations allowed from one address in an hour.
        :param presence_seconds: how long a player counts as present after a request without a session.
        :param invite: the code that a registration needs; None for none.
        """
        self.registry = registry
        self.passwords = passwords or Passwords()
        self.failures = RateLimiter("max_failures_per_minute", max_failures, MINUTE)
        self._wrong_codes = RateLimiter("max_failures_per_minute", max_failures, MINUTE)
        self.guesses = Guesses(self.failures)
        registry.when_revoked(self._forget_revoked)
        self.registrations = RateLimiter("max_registrations_per_hour", max(1, max_registrations), HOUR)
        self.presence = Presence(registry, presence_seconds)
        self._invite = None if invite is None else invite.encode()
        self._digest = digest
        #: Compared with where there is no digest; no key has this one.
        self._decoy = secrets.token_bytes(keys.SIZE)

    def close(self) -> None:
        """End the threads for passwords; no further request may come."""
        self.passwords.close()

    @property
    def wants_invite(self) -> bool:
        """Whether a registration needs a code."""
        return self._invite is not None

    def check_invite(self, code: str | None, peer: str) -> None:
        """Check the code of a registration, if one is needed.

        A code can be guessed, so none is compared once an address has sent too many wrong ones. They are counted apart
        from wrong keys and passwords: a bot that keeps sending one must not keep its neighbours from registering.

        :raises Unauthorized: it is missing or wrong.
        :raises TooMany: too many wrong codes have come from this address.
        """
        if self._invite is None:
            return
        if code is None:
            raise Unauthorized("invite: missing; this server registers players who have its code: use the link with it")
        self._wrong_codes.take(peer)
        if not hmac.compare_digest(code.encode(), self._invite):
            raise Unauthorized("invite: the code is wrong; use the link that the operator has given")
        self._wrong_codes.give_back(peer)

    def admit(self, player: int, key: str | None, authenticated: Authenticated | None, peer: str) -> None:
        """Check that a request may act as a registered player.

        :param authenticated: the identity that its session has proved; a key in the request takes precedence.
        :raises Unauthorized: the key does not belong to this player.
        :raises TooMany: too many failed attempts have come from this address.
        """
        account = self.registry.get(player)
        if key is None and authenticated is not None and account is not None and authenticated == (player, account.key):
            return
        if not self._opens(account, key, peer):
            raise self._failed(refused_id(player, has_key=key is not None), peer)

    def admit_named(self, name: str, key: str | None, peer: str) -> Account:
        """Return the player of a name, if the key is the player's.

        :raises Unauthorized: the name and the key do not belong together.
        :raises TooMany: too many failed attempts have come from this address.
        """
        account = self.registry.named(name)
        if not self._opens(account, key, peer) or account is None:
            raise self._failed(refused_key(name) if key is not None else without_secret(name), peer)
        return self.registry.get(account.player) or account

    async def admit_with_password(self, name: str, password: str, peer: str) -> Account:
        """Return the player of a name, if the password is the player's.

        A password can be guessed, so it is not compared once all attempts are used up (:class:`Guesses`).

        :raises Unauthorized: the name and the password do not belong together.
        :raises TooMany: too many attempts have failed, or too many are in progress.
        """
        account = await self._with_password(name, password, peer)
        if account is None:
            raise Unauthorized(f"password: {wrong_password(name)}")
        return account

    async def _with_password(self, name: str, password: str, peer: str, *, counted: bool = True) -> Account | None:
        """Return the player of a name if the password is the player's.

        :param counted: whether a wrong password uses up an attempt.
        :raises TooMany: too many attempts have failed, or too many are in progress; nothing was compared or counted.
        """
        account = self.registry.named(name)
        give_back = self.guesses.take(name, peer if counted else "")
        stored = None if account is None else account.password
        if await self._verify(stored, password, name, peer, give_back):
            account = self.registry.named(name)  # the password may have been revoked meanwhile
            if account is not None and account.password == stored and account.key is not None:
                give_back()
                self.guesses.know(name, peer)
                return account
        return None

    async def _verify(
        self, stored: str | None, password: str, name: str, peer: str, give_back: Callable[[], None]
    ) -> bool:
        """Compare a password when its address has its turn.

        :param give_back: gives the attempt back; called where nothing was compared.
        :raises TooMany: too many are waiting already.
        """
        try:
            return await self.passwords.verify(stored, password, self.guesses.client(name, peer))
        except BaseException:
            give_back()
            raise

    async def verify_again(self, account: Account, password: str | None, peer: str) -> bool:
        """Return whether a password is the one of the player's registration; a wrong one uses up an attempt.

        :raises TooMany: too many attempts have failed, or too many are in progress.
        """
        self.failures.take(peer)
        give_back = partial(self.failures.give_back, peer)
        if password is None or not await self._verify(account.password, password, account.name, peer, give_back):
            return False
        give_back()
        return True

    async def admit_with_secret(self, name: str, secret: str, peer: str, *, counted: bool = True) -> Account:
        """Return the player of a name, if the secret is the player's key or password.

        :param counted: whether a wrong secret uses up an attempt.
        :raises Unauthorized: it is neither.
        :raises TooMany: too many attempts have failed, or too many are in progress.
        """
        account = self.registry.named(name)
        if self._opens(account, secret, peer) and account is not None:
            return self.registry.get(account.player) or account
        account = await self._with_password(name, secret, peer, counted=counted)
        if account is None:
            raise Unauthorized(f"authorization: {wrong_password(name)}; a player without a password sends its key")
        return account

    def is_key(self, name: str, secret: str, peer: str) -> bool:
        """Return whether a secret is the named player's key, which cannot be guessed. A right one is noted as used."""
        return self._opens(self.registry.named(name), secret, peer)

    def admit_again(
        self, player: int, key: str | None, token: str | None, authenticated: Authenticated | None, peer: str
    ) -> None:
        """Check that a request may give a player another key.

        It needs the player's key, or the key before that with the token of a rekeying whose reply was lost.

        :raises Unauthorized: it is neither.
        :raises TooMany: too many failed attempts have come from this address.
        """
        account = self.registry.get(player)
        before, named = self._decoy, self._decoy
        if account is not None and account.nonce is not None:
            before, named = account.previous or before, account.rekey_token or named
        is_before = hmac.compare_digest(before, self._digest(key or ""))
        is_named = hmac.compare_digest(named, self._digest(token or ""))
        if not (is_before and is_named):
            self.admit(player, key, authenticated, peer)

    def authenticated(self, account: Account) -> Authenticated:
        """Return the identity that a session of this player holds."""
        assert account.key is not None
        return Authenticated(account.player, account.key)

    def _opens(self, account: Account | None, key: str | None, peer: str) -> bool:
        """Return whether a key is a player's. If so, record its use and the address."""
        expected = None if account is None else account.key
        given = self._digest(key or "")
        if not hmac.compare_digest(given, expected or self._decoy) or account is None or expected is None:
            return False
        self.registry.note_use(account)
        self.guesses.know(account.name, peer)
        return True

    def _forget_revoked(self, player: int) -> None:
        account = self.registry.get(player)
        assert account is not None
        self.guesses.forget(account.name)

    def _failed(self, words: str, peer: str) -> GmError:
        """Return the refusal of an attempt with a key.

        A right key is admitted however many wrong ones came from its address: keys cannot be guessed, and a bot that
        keeps sending a wrong key must not shut out its neighbours.

        :raises TooMany: too many failed attempts have come from this address.
        """
        self.failures.take(peer)
        return Unauthorized(words)


def refused_id(player: int, *, has_key: bool) -> str:
    """Return the sentence for a request that may not act as the player of an id.

    :param has_key: whether a key was sent, right or wrong.
    """
    if has_key:
        return f"player: the key does not belong to player {player}; {CHECK_KEY}"
    return f"player: {player} is a registered player's id; send the player's key with it"


def refused_key(name: str) -> str:
    """Return the sentence for a name and a key that do not belong together."""
    return f"name: the key does not belong to {quote(name)}; {CHECK_KEY}"


def without_secret(name: str) -> str:
    """Return the sentence for a name that comes with neither a key nor a password."""
    return f"name: {quote(name)} needs its key or its password; give one (GM_KEY, or --key @FILE)"


def wrong_password(name: str) -> str:
    """Return the end of the sentence for a name and a password that do not belong together."""
    return f"wrong password for {quote(name)}; check both"
