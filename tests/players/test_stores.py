"""The contract of every store of players. To test a new store, add it to :data:`STORES` and :func:`new_store`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec import structs

from gmd.event_log.interface import LogFailed
from gmd.players.account import FIRST_PLAYER, Account
from gmd.players.sql import SqlPlayers
from gmd.players.store import MemoryPlayers, PlayerStore
from tests.helpers import running_log, store_in
from tests.postgres import clean_database, require_postgres
from tests.postgres import new_store as new_postgres

BARE = Account(player=FIRST_PLAYER, name="Bare", created="2026-11-21T04:41:00Z", key=None)
FULL = Account(
    player=2**53 - 1,
    name="x" * 64,
    created="2026-11-21T04:41:00Z",
    key=b"\0" * 32,
    password="$argon2id$v=19$" + "p" * 200,
    nonce=b"\1" * 32,
    previous=b"\2" * 32,
    register_token=b"\3" * 32,
    rekey_token=b"\xff" * 32,
    max_games=10_000,
    ranked=True,
    version=2**31 - 1,
)


@asynccontextmanager
async def memory_store() -> AsyncIterator[PlayerStore]:
    yield MemoryPlayers()


@asynccontextmanager
async def sql_store() -> AsyncIterator[PlayerStore]:
    with TemporaryDirectory() as directory, store_in(Path(directory)) as store:
        async with running_log(store) as log:
            yield SqlPlayers(log)


@asynccontextmanager
async def postgres_store() -> AsyncIterator[PlayerStore]:
    with clean_database() as url, closing(new_postgres(url)) as store:
        async with running_log(store) as log:
            yield SqlPlayers(log)


StoreFactory = Callable[[], AbstractAsyncContextManager[PlayerStore]]

#: Every kind of store, empty, by its name.
STORES: dict[str, StoreFactory] = {"memory": memory_store, "sql": sql_store, "postgres": postgres_store}


@pytest.fixture(params=["memory", "sql", pytest.param("postgres", marks=pytest.mark.slow)])
def new_store(request: pytest.FixtureRequest) -> StoreFactory:
    """Return a function that opens an empty store."""
    if request.param == "postgres":
        require_postgres()
    return STORES[request.param]


async def test_added_accounts_are_loaded_with_every_field_in_order_of_ids(new_store: StoreFactory) -> None:
    async with new_store() as store:
        await store.add(FULL)
        await store.add(BARE)
        assert await store.load() == [BARE, FULL]


async def test_change_replaces_every_changeable_field(new_store: StoreFactory) -> None:
    async with new_store() as store:
        await store.add(BARE)
        await store.add(FULL)
        for changed in (structs.replace(FULL, player=BARE.player, name=BARE.name), BARE):
            await store.change(changed)
            assert await store.load() == [changed, FULL]


async def test_ids_and_names_are_unique_regardless_of_case(new_store: StoreFactory) -> None:
    async with new_store() as store:
        await store.add(BARE)
        for other in (structs.replace(BARE, name="other"), structs.replace(BARE, player=FIRST_PLAYER + 1, name="bARE")):
            with pytest.raises(LogFailed):
                await store.add(other)
        assert await store.load() == [BARE]


async def test_missing_account_cannot_be_changed(new_store: StoreFactory) -> None:
    async with new_store() as store:
        with pytest.raises(LogFailed):
            await store.change(BARE)
        assert await store.load() == []
