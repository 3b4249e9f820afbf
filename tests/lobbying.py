"""Registered players of a daemon in memory, for tests of invitations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import trio

from gmd.event_log.interface import EventLog
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient, Refused, Sender
from gmd.players.account import FIRST_PLAYER, Authenticated
from tests.helpers import Client, Json, MemoryDaemon, durable_daemon, memory_daemon, store_in

ALICE, BOB, CAROL = FIRST_PLAYER, FIRST_PLAYER + 1, FIRST_PLAYER + 2
NAMES = ("alice", "bob", "carol")
#: The addresses of two clients.
HERE, THERE = "192.0.2.1:50000", "198.51.100.7:50000"


class House(NamedTuple):
    """A daemon with three registered players, each in its own session."""

    daemon: MemoryDaemon
    alice: Client
    bob: Client
    carol: Client


#: The keys of each daemon's players, by their names.
_keys: WeakKeyDictionary[MemoryDaemon, dict[str, str]] = WeakKeyDictionary()


async def enter(daemon: MemoryDaemon, name: str) -> Client:
    """Open a session of a player; register the player, or issue another key where an earlier daemon registered it."""
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
    """Open a session for each of the three players in a running daemon."""
    return House(daemon, *[await enter(daemon, name) for name in NAMES])


@asynccontextmanager
async def house(log: EventLog | None = None, **settings: Any) -> AsyncIterator[House]:
    """Run a daemon with the three players."""
    async with memory_daemon(log, **settings) as daemon:
        yield await housed(daemon)


@asynccontextmanager
async def durable_house(directory: Path, **settings: Any) -> AsyncIterator[House]:
    """Run such a daemon on a file, which keeps all that was acknowledged when it ends, and nothing else."""
    with store_in(directory) as store:
        async with durable_daemon(store, **settings) as daemon:
            yield await housed(daemon)


class From:
    """A sender of requests as a client at an address sends them."""

    def __init__(self, daemon: MemoryDaemon, peer: str, player: int | None = None, *, operator: bool = False) -> None:
        self._daemon, self._in_process, self._peer, self._player = (
            daemon,
            InProcessClient(daemon.services),
            peer,
            player,
        )
        self._authority = Authority.OPERATOR if operator else Authority.CLIENT

    async def ask(self, kind: str, **fields: Any) -> Json:
        """Return the reply, even if it is a refusal."""
        account = None if self._player is None else self._daemon.authenticator.registry.get(self._player)
        authenticated = None if account is None or account.key is None else Authenticated(account.player, account.key)
        try:
            sender = Sender(authenticated, self._peer, trio.current_time())
            return await self._in_process.ask(self._authority, kind, fields, sender)
        except Refused as refused:
            return refused.reply


def refused(reply: Json) -> tuple[str, str]:
    """Return a refusal's code and the setting that its text begins with; a ``too_many`` must say when to retry."""
    if reply["code"] == "too_many":
        assert reply["retry_after"] > 0
    return reply["code"], reply["error"].partition(":")[0]
