"""The contract of every store of contests that keeps them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

from gm_protocol.contests import ContestReport
from gmd.lobby.contest_sql import SqlContests
from gmd.lobby.contests import Contest, ContestStore, Owner, contest_of
from gmd.players.account import FIRST_PLAYER
from tests.helpers import running_log, store_in
from tests.postgres import clean_database, require_postgres
from tests.postgres import new_store as new_postgres


@asynccontextmanager
async def sqlite_contests() -> AsyncIterator[ContestStore]:
    with TemporaryDirectory() as directory, store_in(Path(directory)) as store:
        async with running_log(store) as log:
            yield SqlContests(log)


@asynccontextmanager
async def postgres_contests() -> AsyncIterator[ContestStore]:
    with clean_database() as url, closing(new_postgres(url)) as store:
        async with running_log(store) as log:
            yield SqlContests(log)


StoreFactory = Callable[[], AbstractAsyncContextManager[ContestStore]]


@pytest.fixture(
    params=[
        pytest.param(sqlite_contests, id="sqlite"),
        pytest.param(postgres_contests, id="postgres", marks=pytest.mark.slow),
    ]
)
def new_store(request: pytest.FixtureRequest) -> StoreFactory:
    """Return a function that opens an empty store."""
    factory: StoreFactory = request.param
    if factory is postgres_contests:
        require_postgres()
    return factory


def contest(number: int, owner: Owner, name: str) -> Contest:
    report = {"title": name, "form": "match", "variant": "rbc", "players": [{"name": "new"}], "note": "♞"}
    encoded = msgspec.json.encode(msgspec.convert(report, ContestReport))
    return contest_of(number, owner, bytes([number % 256]) * 32, 1e9 + number / 3, 2e9 + number / 7, encoded)


async def test_written_contests_are_loaded_with_every_field(new_store: StoreFactory) -> None:
    first = contest(1, Owner(FIRST_PLAYER), "of a player")
    second = contest(2, Owner(operator=True), "of the operator ♞")
    third = contest(300, Owner(), "of a client")
    async with new_store() as store:
        assert (await store.load(), await store.newest_id()) == ([], 0)
        await store.write([second, third, first], [])
        assert (await store.load(), await store.newest_id()) == ([first, second, third], 300)


async def test_contests_are_replaced_and_removed_together(new_store: StoreFactory) -> None:
    first, second = contest(1, Owner(), "first"), contest(2, Owner(), "second")
    changed = contest(1, Owner(), "first, changed")
    async with new_store() as store:
        await store.write([first, second], [])
        await store.write([changed], [second.contest_id, 77])
        assert await store.load() == [changed]
