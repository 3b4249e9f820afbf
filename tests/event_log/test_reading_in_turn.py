"""Reads of the log: one of each address at a time, so that no address can fill the queue of the reader threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gm_protocol.messages import GameRow
from gmd.event_log.batching import READERS
from gmd.event_log.interface import GameQuery
from tests.helpers import FaultyStore, running_log, store_in

FLOODER, OTHERS, HONEST = "192.0.2.1", "192.0.2.2:1", "192.0.2.9:1"


class HeldRows(FaultyStore):
    """A store whose listings end when a test says so; it counts how many are read at a time."""

    def __init__(self, store: FaultyStore) -> None:
        super().__init__(store)  # type: ignore[arg-type] (it delegates)
        self.may_end = threading.Event()
        self.running = self.most = 0
        self._counting = threading.Lock()

    def rows(self, query: GameQuery) -> list[GameRow]:
        with self._counting:
            self.running += 1
            self.most = max(self.most, self.running)
        assert self.may_end.wait(60), "the test has ended without releasing the store"
        with self._counting:
            self.running -= 1
        return self._store.rows(query)

    @contextmanager
    def held(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.may_end.set()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HeldRows]:
    with store_in(tmp_path) as store:
        yield HeldRows(store)


async def test_address_with_many_listings_holds_up_no_other_address(store: HeldRows) -> None:
    async with running_log(store) as log, trio.open_nursery() as nursery:
        with store.held():
            for port in range(20):
                nursery.start_soon(partial(log.rows, GameQuery(), f"{FLOODER}:{port}"))
            await wait_all_tasks_blocked()
            assert await log.made_under(1, b"token", HONEST) is None  # a reader thread is free for it
            assert await log.due(1, HONEST) == []
    assert store.most == 1


async def test_addresses_read_at_the_same_time(store: HeldRows) -> None:
    async with running_log(store) as log, trio.open_nursery() as nursery:
        with store.held():
            for peer in (f"{FLOODER}:1", f"{FLOODER}:2", OTHERS, HONEST):
                nursery.start_soon(partial(log.rows, GameQuery(), peer))
            while store.running < READERS:
                await wait_all_tasks_blocked()
    assert store.most == READERS


async def test_reads_without_an_address_wait_for_each_other_in_the_pool_alone(store: HeldRows) -> None:
    async with running_log(store) as log, trio.open_nursery() as nursery:
        with store.held():
            for _ in range(3):
                nursery.start_soon(log.rows, GameQuery())
            while store.running < READERS:
                await wait_all_tasks_blocked()
    assert store.most == READERS
