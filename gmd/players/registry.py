"""All registered players, held in memory, and all changes to them.

All are in memory so that a look-up takes the same time whether or not the player exists.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress

import trio
from msgspec import structs

from gm_protocol.base import LAST_REGISTERED
from gm_protocol.errors import BadRequest, NotAvailable, TooMany, quote
from gmd.event_log.interface import LogFailed, LogUnreachable
from gmd.event_log.keyed_locks import KeyedLocks
from gmd.event_log.utc import write_now
from gmd.players import keys
from gmd.players.account import ENDED_SIZE, FIRST_PLAYER, MOST_ENDED, Account, folded, is_reserved
from gmd.players.keys import Digest
from gmd.players.store import PlayerStore

#: Seconds after which a client may ask again whether another player can register.
FULL_RETRY_AFTER = 3_600.0

#: Checks again, when a change has its turn, that the client that requested it still may; raises if not.
Permit = Callable[[], object]


def anybody() -> None:
    """Permit a change by anybody, for callers that have checked already or need no check."""


class Registry:
    """All players by id and by name. A change is durable before anybody sees it.

    Changes are made one at a time, and permission is checked again when a change has its turn: a request admitted
    earlier may have waited behind a revocation or a new key.
    """

    def __init__(self, store: PlayerStore, max_players: int, digest: Digest = keys.digest) -> None:
        self._store = store
        self._max_players = max_players
        self._digest = digest
        self._by_id: dict[int, Account] = {}
        self._by_name: dict[str, Account] = {}
        #: How often a player's key or password was changed or revoked: while this stays the same, an identity that was
        #: checked is still right.
        self.changed_secrets = 0
        #: The highest id of any stored row, even a damaged one: it is not assigned again.
        self._newest_stored = 0
        self._writing = trio.Lock()
        self._in_doubt = False  # whether a change failed that the store may have, so that it must be read again
        self._setting = KeyedLocks()
        self._settings = trio.Lock()
        self._used: list[int] = []
        self._some_used = trio.Event()
        self._on_revoked: list[Callable[[int], None]] = []
        self._on_set: list[Callable[[Account], None]] = []
        self._on_changed: list[Callable[[int], None]] = []

    async def start(self) -> None:
        """Read all players."""
        for account in await self._store.load():
            self._keep(account)
        self._newest_stored = await self._store.newest_id()

    async def _reload(self) -> None:
        """Read all players again.

        :raises GmError: they cannot be read.
        """
        accounts, newest = await self._store.load(), await self._store.newest_id()
        for account in accounts:
            self._take_in(account)
        self._newest_stored = max(self._newest_stored, newest)

    def _take_in(self, account: Account) -> None:
        """Replace what is known of a player by what is stored."""
        before = self._by_id.get(account.player)
        if before is not None and before.key == account.key and before.nonce is None:
            account = structs.replace(account, nonce=None, previous=None)  # its key was used here
        if account == before:
            return
        self._keep(account)
        if before is None:
            if account.player < self._newest:
                self._by_id = dict(sorted(self._by_id.items()))
            return
        for changed in self._on_changed:
            changed(account.player)
        if before.key is not None and account.key is None:
            for revoked in self._on_revoked:
                revoked(account.player)

    async def run(self) -> None:
        """Store which keys have been used, until cancelled."""
        try:
            while True:
                await self._some_used.wait()
                self._some_used = trio.Event()
                await self._note_used()
        finally:
            with trio.CancelScope(shield=True):
                await self._note_used()

    def when_revoked(self, callback: Callable[[int], None]) -> None:
        """Call ``callback`` with every player who is revoked."""
        self._on_revoked.append(callback)

    def when_set(self, callback: Callable[[Account], None]) -> None:
        """Call ``callback`` with every player who has set something, even to the value it had."""
        self._on_set.append(callback)

    def when_changed(self, callback: Callable[[int], None]) -> None:
        """Call ``callback`` with every player of whom something has changed, such as its key or its password."""
        self._on_changed.append(callback)

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, player: int) -> Account | None:
        """Return the player with an id."""
        return self._by_id.get(player)

    def named(self, name: str) -> Account | None:
        """Return the player with a name, in any case."""
        return self._by_name.get(folded(name))

    def newest_first(self, before: int | None) -> Iterator[Account]:
        """Return all players, or those with ids below ``before``."""
        newest = self._newest if before is None else min(self._newest, before - 1)
        return (self._by_id[player] for player in range(newest, FIRST_PLAYER - 1, -1) if player in self._by_id)

    def registered_under(self, name: str, token: str | None) -> Account | None:
        """Return the player that was registered with this name and token.

        :raises NotAvailable: the name is another player's.
        """
        account = self.named(name)
        if account is None:
            return None
        if token is None or account.register_token != self._digest(token):
            raise NotAvailable(f"name: {quote(name)} is taken; choose another")
        return account

    def key_of_registration(self, account: Account, token: str) -> str | None:
        """Return the key of a registration, as long as it is unused; None after that."""
        if account.nonce is None or account.rekey_token is not None:
            return None
        return keys.derived_key(account.nonce, token)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Make a change alone and to its end: a cancelled one might be stored without being known here."""
        with trio.CancelScope(shield=True):
            async with self._writing:
                if self._in_doubt:
                    await self._reload()
                    self._in_doubt = False
                try:
                    yield
                except LogUnreachable:
                    raise  # nothing was done
                except LogFailed:
                    self._in_doubt = True
                    raise

    async def register(self, name: str, password: str | None, token: str | None) -> tuple[Account, str | None]:
        """Register a player, or find the one of a repeated request; return it and its key, unless that has been used.

        :param password: its hash.
        :raises NotAvailable: the name is another player's, or what the pages call others.
        :raises TooMany: the limit of players is reached.
        :raises LogFailed: storing it failed, or may have; a repeated request finds out.
        """
        async with self._alone():
            if (made := self.registered_under(name, token)) is not None:
                assert token is not None
                return made, self.key_of_registration(made, token)
            if is_reserved(name):
                raise NotAvailable(f"name: {quote(name)} is what pages call others; choose another")
            nonce, key = _make_key(token)
            account = Account(
                player=self._next_id(),
                name=name,
                created=write_now(),
                key=self._digest(key),
                password=password,
                nonce=nonce,
                register_token=None if token is None else self._digest(token),
            )
            await self._store.add(account)
            self._keep(account)
            return account, key

    async def rekey(self, player: int, token: str | None, permit: Permit = anybody) -> tuple[Account, str | None]:
        """Give a player another key; or, with the same token again, the same key, unless that has been used.

        :param permit: raises where the client may not do this; its error is raised here, and nothing changes.
        :raises LogFailed: storing it failed, and the old key stays valid; or it may have, as the error says.
        """
        async with self._alone():
            permit()
            account = self._by_id[player]
            named = None if token is None else self._digest(token)
            if token is not None and account.rekey_token == named and account.key is not None:
                return account, None if account.nonce is None else keys.derived_key(account.nonce, token)
            nonce, key = _make_key(token)
            account = structs.replace(
                account,
                key=self._digest(key),
                nonce=nonce,
                previous=None if token is None else account.key,
                rekey_token=named,
            )
            return await self._change(account), key

    async def revoke(self, player: int) -> Account:
        """Revoke a player's key and password.

        :raises LogFailed: storing it failed, and both stay valid; or it may have, as the error says.
        """
        async with self._alone():
            account = structs.replace(
                self._by_id[player], key=None, password=None, nonce=None, previous=None, rekey_token=None
            )
            account = await self._change(account)
        for callback in self._on_revoked:
            callback(player)
        return account

    async def set(
        self,
        player: int,
        permit: Permit = anybody,
        *,
        max_games: int | None = None,
        ranked: bool | None = None,
        version: int | None = None,
    ) -> Account:
        """Change the given settings of a player, all or none.

        :param permit: raises where the client may not do this; its error is raised here, and nothing changes.
        :param max_games: the most games that it takes at a time.
        :param ranked: whether it wants ranked games.
        :param version: the version of its bot: the present one, or the next.
        :raises BadRequest: it is another version.
        :raises LogFailed: storing it failed, and nothing has changed; or it may have, as the error says.
        """
        given = {"max_games": max_games, "ranked": ranked, "version": version}
        settings = {name: value for name, value in given.items() if value is not None}
        _check_version(self._by_id[player], version)
        async with self._settings_turn(player):
            permit()
            account = self._by_id[player]
            _check_version(account, version)
            changed = structs.replace(account, **settings)
            account = account if changed == account else await self._change(changed)
        for callback in self._on_set:
            callback(account)
        return account

    async def next_version(self, player: int, permit: Permit = anybody) -> Account:
        """Begin a new version of a player's bot: version 1, or the one after the last.

        :param permit: as for :meth:`set`.
        :raises LogFailed: storing it failed, and nothing has changed; or it may have, as the error says.
        """
        async with self._settings_turn(player):
            permit()
            account = self._by_id[player]
            return await self._change(structs.replace(account, version=account.version + 1))

    async def end_cookie(self, player: int, cookie: bytes) -> Account:
        """Make a cookie of a player worthless; all of them where too many were ended before.

        :param cookie: its digest.
        :raises LogFailed: storing it failed, and it stays valid; or it may have, as the error says.
        """
        async with self._alone():
            account = self._by_id[player]
            ended = (account.ended_cookies or b"") + cookie
            if len(ended) > MOST_ENDED * ENDED_SIZE:
                changed = structs.replace(account, cookie_epoch=account.cookie_epoch + 1, ended_cookies=None)
            else:
                changed = structs.replace(account, ended_cookies=ended)
            return await self._change(changed)

    @asynccontextmanager
    async def _settings_turn(self, player: int) -> AsyncIterator[None]:
        """Change settings alone and to the end.

        They wait among themselves: one of each player with those of others, and one of all with registrations and keys.
        """
        async with self._setting.hold(player), self._settings, self._alone():
            yield

    def note_use(self, account: Account) -> None:
        """Record that a key was used: its owner has it, so it is not shown again."""
        if account.nonce is not None:
            self._keep(structs.replace(account, nonce=None, previous=None))
            self._used.append(account.player)
            self._some_used.set()

    async def _note_used(self) -> None:
        used, self._used = self._used, []
        for player in used:
            with suppress(LogFailed):  # logged already; at worst the key is shown again after a restart
                async with self._alone():
                    await self._store.change(self._by_id[player])

    async def _change(self, account: Account) -> Account:
        """Make a change durable, then visible. A use of the key in between is not lost (:meth:`note_use`)."""
        before = self._by_id[account.player]
        await self._store.change(account)
        if self._by_id[account.player] is not before and account.nonce == before.nonce:
            account = structs.replace(account, nonce=None, previous=None)
        self._keep(account)
        for callback in self._on_changed:
            callback(account.player)
        return account

    def _keep(self, account: Account) -> None:
        before = self._by_id.get(account.player)
        if before is not None and (before.key, before.password) != (account.key, account.password):
            self.changed_secrets += 1
        self._by_id[account.player] = account
        self._by_name[folded(account.name)] = account

    def check_room(self) -> None:
        """Check that another player may register.

        :raises TooMany: the limit of players is reached.
        """
        if len(self._by_id) >= self._max_players:
            raise TooMany(f"max_players: the limit of {self._max_players} players is reached", FULL_RETRY_AFTER)

    def _next_id(self) -> int:
        self.check_room()
        player = max(FIRST_PLAYER, self._newest + 1, self._newest_stored + 1)
        assert player <= LAST_REGISTERED
        return player

    @property
    def _newest(self) -> int:
        return next(reversed(self._by_id), 0)  # ids only grow, and a changed account keeps its place


def _check_version(account: Account, version: int | None) -> None:
    now = account.version
    if version not in (None, now, now + 1):
        raise BadRequest(f"version: {version} is neither the version of the bot, {now}, nor the next one, {now + 1}")


def _make_key(token: str | None) -> tuple[bytes | None, str]:
    """Return a new key; with a token, also the nonce to derive it from again."""
    if token is None:
        return None, keys.new_key()
    nonce = keys.new_nonce(token)
    return nonce, keys.derived_key(nonce, token)
