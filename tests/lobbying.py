"""Registered players of a daemon in memory, for tests of invitations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from gmd.log.interface import EventLog
from gmd.players.account import FIRST_PLAYER
from tests.helpers import Client, MemoryDaemon, durable_daemon, memory_daemon, store_in

ALICE, BOB, CAROL = FIRST_PLAYER, FIRST_PLAYER + 1, FIRST_PLAYER + 2
NAMES = ("alice", "bob", "carol")


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
    registry = daemon.gate.registry
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
