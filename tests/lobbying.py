"""Registered players of a daemon in memory, for tests of invitations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import trio

from gmd.event_log.interface import EventLog
from gmd.in_process import InProcessClient, Refused, Sender
from gmd.players.account import FIRST_PLAYER
from gmd.players.authenticated import Authenticated
from gmd.requests.session import Authority
from tests.helpers import Client, Json, MemoryDaemon, durable_daemon, memory_daemon, store_in

ALICE, BOB, CAROL = FIRST_PLAYER, FIRST_PLAYER + 1, FIRST_PLAYER + 2
NAMES = ("alice", "bob", "carol")
#: Two addresses of clients.
HERE, THERE = "192.0.2.1:50000", "198.51.100.7:50000"


class House(NamedTuple):
    """A daemon with three registered players, each in a session of its own."""

    daemon: MemoryDaemon
    alice: Client
    bob: Client
    carol: Client


#: The keys of each daemon's players, by their names.
_keys: WeakKeyDictionary[MemoryDaemon, dict[str, str]] = WeakKeyDictionary()


async def enter(daemon: MemoryDaemon, name: str) -> Client:
    """A session of a player, who is registered by it; or gets another key, where an earlier daemon has done that."""
    keys = _keys.setdefault(daemon, {})
    registry = daemon.authenticator.registry
    account = registry.named(name)
    if name not in keys:
        made = registry.register(name, None, None) if account is None else registry.rekey(account.player, None)
        account, key = await made
        assert key is not None
        keys[name] = key
    client = await daemon.connect()
    reply = await client.ask("hello", name=name, key=keys[name])
    assert reply["error"] is None, reply
    return client


async def housed(daemon: MemoryDaemon) -> House:
    """The three, in a daemon that is there."""
    return House(daemon, *[await enter(daemon, name) for name in NAMES])


@asynccontextmanager
async def house(log: EventLog | None = None, **settings: Any) -> AsyncIterator[House]:
    """A daemon with the three in it."""
    async with memory_daemon(log, **settings) as daemon:
        yield await housed(daemon)


@asynccontextmanager
async def durable_house(directory: Path, **settings: Any) -> AsyncIterator[House]:
    """The same on a file, which keeps all that was acknowledged when it ends; nothing else is kept."""
    with store_in(directory) as store:
        async with durable_daemon(store, **settings) as daemon:
            yield await housed(daemon)


class From:
    """Sends requests as a client at an address does."""

    def __init__(self, daemon: MemoryDaemon, peer: str, player: int | None = None, *, operator: bool = False) -> None:
        self._daemon, self._door, self._peer, self._player = daemon, InProcessClient(daemon.services), peer, player
        self._authority = Authority.OPERATOR if operator else Authority.CLIENT

    async def ask(self, kind: str, **fields: Any) -> Json:
        """The reply, be it a refusal."""
        account = None if self._player is None else self._daemon.authenticator.registry.get(self._player)
        authenticated = None if account is None or account.key is None else Authenticated(account.player, account.key)
        try:
            sender = Sender(authenticated, self._peer, trio.current_time())
            return await self._door.ask(self._authority, kind, fields, sender)
        except Refused as refused:
            return refused.reply


def refused(reply: Json) -> tuple[str, str]:
    """A refusal's code, and the setting that its text begins with; it says when to come again."""
    if reply["code"] == "too_many":
        assert reply["retry_after"] > 0
    return reply["code"], reply["error"].partition(":")[0]
