"""Two daemons' stores on one PostgreSQL database: what one may write, and what the other then sees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing

import chess
import pytest
from msgspec import structs

from gm_protocol.errors import Moved as MovedError
from gmd.cluster.shards import LOBBY
from gmd.event_log.batching import BatchingLog
from gmd.event_log.interface import GameQuery, SequenceConflict, TokenUse
from gmd.games.events import Moved
from tests.event_log.test_contract import CREATED, OVER, SUMMARY, append
from tests.helpers import running_log
from tests.postgres import clean_database, new_store, require_postgres


class Owned:
    """A fence of a daemon that believes to own some shards, each in an epoch."""

    def __init__(self, daemon: int, epochs: Mapping[int, int]) -> None:
        self.daemon = daemon
        self.epochs = epochs
        self.refusals: list[dict[int, int]] = []

    def refused(self, epochs: Mapping[int, int]) -> None:
        self.refusals.append(dict(epochs))


@pytest.fixture
def url() -> Iterator[str]:
    """Return the URL of an empty database with the current schema."""
    require_postgres()
    with clean_database() as url:
        yield url


@asynccontextmanager
async def open_log(url: str, fence: Owned | None = None) -> AsyncIterator[BatchingLog]:
    with closing(new_store(url)) as store:
        store.fence = fence
        async with running_log(store) as log:
            yield log


async def give(log: BatchingLog, daemon: int, epochs: Mapping[int, int]) -> Owned:
    """Have a daemon own shards in the database, by way of a log without a fence; return its fence."""
    for shard, epoch in epochs.items():
        values = {"shard": shard, "daemon": daemon, "epoch": epoch}
        sql = "UPDATE shards SET daemon = %(daemon)s, epoch = %(epoch)s WHERE shard = %(shard)s"
        await log.database.write(lambda connection, sql=sql, values=values: connection.exec_driver_sql(sql, values))
    return Owned(daemon, epochs)


async def test_each_sees_the_others_games(url: str) -> None:
    async with open_log(url) as one, open_log(url) as two:
        await append(one, 1, 0, CREATED)
        await append(two, 2, 0, CREATED)
        await append(one, 1, 1, Moved("e2e4"))
        await append(two, 2, 1, Moved("d2d4"))
        assert await two.load(1) == [CREATED, Moved("e2e4")]
        assert await one.load(2) == [CREATED, Moved("d2d4")]
        assert [row.game_id for row in await one.rows(GameQuery())] == [2, 1]


async def test_of_two_appends_to_one_game_one_conflicts(url: str) -> None:
    async with open_log(url) as one, open_log(url) as two:
        await append(one, 1, 0, CREATED)
        await append(two, 1, 1, Moved("e2e4"))
        with pytest.raises(SequenceConflict) as caught:
            await append(one, 1, 1, Moved("d2d4"))
        assert (caught.value.expected, caught.value.actual) == (1, 2)
        with pytest.raises(SequenceConflict):
            await append(one, 1, 0, CREATED)
        assert await one.load(1) == [CREATED, Moved("e2e4")]
        await append(one, 1, 2, Moved("e7e5"))
        assert await two.load(1) == [CREATED, Moved("e2e4"), Moved("e7e5")]


async def test_conflict_of_one_game_does_not_keep_others_from_being_written(url: str) -> None:
    async with open_log(url) as one, open_log(url) as two:
        await append(two, 1, 0, CREATED)
        commits = [one.append(game_id, 0, [CREATED], lambda: SUMMARY) for game_id in (1, 2)]
        with pytest.raises(SequenceConflict):
            await commits[0].wait()
        await commits[1].wait()
        assert await two.load(2) == [CREATED]


async def test_second_use_of_a_token_is_moved_and_then_finds_the_game_of_the_first(url: str) -> None:
    use = TokenUse(7, b"token", b"content")
    async with open_log(url) as one, open_log(url) as two:
        assert await two.made_under(7, b"token") is None
        await one.append(1, 0, [CREATED], lambda: SUMMARY, use).wait()
        with pytest.raises(MovedError) as caught:
            await two.append(2, 0, [CREATED], lambda: SUMMARY, use).wait()
        assert str(caught.value) == (
            "game 2: the token was used at another server meanwhile; nothing was done: send the request again"
        )
        assert await two.load(2) == []
        assert await two.made_under(7, b"token") == (1, b"content")


async def test_daemon_writes_only_what_it_owns(url: str) -> None:
    async with open_log(url) as alone:
        mine = await give(alone, 11, {1: 5, 2: 6})
        await give(alone, 12, {3: 1})
    async with open_log(url, mine) as log:
        commits = [log.append(game_id, 0, [CREATED], lambda: SUMMARY) for game_id in (1, 2, 3, 258)]
        for commit in (commits[0], commits[1], commits[3]):
            await commit.wait()
        with pytest.raises(MovedError) as caught:
            await commits[2].wait()
        assert str(caught.value) == (
            "game 3: another server has the game now; nothing was done: send the request again"
        )
        assert await log.load(3) == []


@pytest.mark.parametrize(("daemon", "epoch"), [(11, 7), (12, 6), (12, 5)])
async def test_former_owner_is_fenced_by_the_database(url: str, daemon: int, epoch: int) -> None:
    """It does not know yet that the shard has a new epoch, or a new owner."""
    async with open_log(url) as alone:
        mine = await give(alone, 11, {1: 6, 2: 6})
        async with open_log(url, mine) as former:
            for game_id in (1, 2):
                await append(former, game_id, 0, CREATED)
            await give(alone, daemon, {1: epoch})
            commits = [former.append(game_id, 1, [Moved("e2e4")], lambda: SUMMARY) for game_id in (1, 2)]
            former.result_delivered(1, chess.WHITE)
            with pytest.raises(MovedError):
                await commits[0].wait()
            await commits[1].wait()
            assert mine.refusals == [{1: 6}]
            assert await former.load(1) == [CREATED]
            assert await former.load(2) == [CREATED, Moved("e2e4")]


async def test_former_owner_of_the_lobby_changes_nothing_of_it(url: str) -> None:
    async with open_log(url) as alone:
        mine = await give(alone, 11, {1: 1, LOBBY: 4})
        async with open_log(url, mine) as log:
            write = "INSERT INTO secrets VALUES (%(name)s, '')"
            await log.write(lambda connection: connection.exec_driver_sql(write, {"name": "first"}))
            await append(log, 1, 0, CREATED, summary=OVER)
            await give(alone, 12, {LOBBY: 5})
            with pytest.raises(MovedError) as caught:
                await log.write(lambda connection: connection.exec_driver_sql(write, {"name": "second"}))
            assert mine.refusals == [{LOBBY: 4}]
            assert str(caught.value) == "another server has the lobby now; nothing was done: send it again"
        names = await alone.read(lambda connection: connection.exec_driver_sql("SELECT name FROM secrets").all())
        assert names == [("first",)]


async def test_both_prune_and_no_id_of_a_pruned_game_is_given_again(url: str) -> None:
    created = structs.replace(CREATED, player_white=1, player_black=2)
    async with open_log(url) as one, open_log(url) as two:
        for game_id in (1, 2, 3):
            await append(one, game_id, 0, created, summary=OVER)
        pruned = await one.prune(0) + await two.prune(0)
        assert sorted(game.game_id for game in pruned) == [1, 2, 3]
    async with open_log(url) as again:
        assert again.next_game_id() == 4
