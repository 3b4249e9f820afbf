"""Daemons join, share the shards out, hand them over, die and are taken over, on a real PostgreSQL."""

from __future__ import annotations

from threading import Event as ThreadEvent

import psycopg
import pytest
import trio
import trio.testing

from gm_protocol.errors import Moved
from gmd.cluster.directory import CannotExpel
from gmd.cluster.leases import LEASE_SECONDS
from gmd.cluster.shards import LOBBY, SHARDS
from tests.cluster.members import PATIENCE, create_tables, joined, lapsed, shared_out, take_over, until
from tests.postgres import own_postgres


async def test_daemon_alone_gets_all_shards_and_the_lobby(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await until(one, lambda: len(one.mine()) == SHARDS + 1)
        assert {one.membership.epochs[shard] for shard in range(SHARDS + 1)} == {1}
        assert one.membership.owner_of(LOBBY) == one.me
        assert one.membership.peers()[one.me].game == "one:7100"
        assert one.keeper.has == one.mine()


async def test_shards_are_shared_out_as_daemons_come_and_go(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        async with joined(cluster_url, "two") as two:
            await shared_out(one, two)
            async with joined(cluster_url, "three") as three:
                await shared_out(one, two, three)
                assert one.membership.is_mine(LOBBY)
                assert {one.membership.owner_of(shard) for shard in three.mine()} == {three.me}
                for member in (one, two, three):
                    assert member.keeper.has == member.mine()
            await shared_out(one, two)
        await shared_out(one)
        await until(one, lambda: len(one.mine()) == SHARDS + 1)


async def test_shard_is_not_handed_over_before_its_owner_has_finished(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        one.keeper.hold = trio.Event()
        async with joined(cluster_url, "two") as two:
            await until(one, lambda: one.games() == SHARDS // 2)
            leaving = set(range(SHARDS)) - one.mine()
            await until(two, lambda: two.membership.owner_of(min(leaving)) == one.me)
            assert two.games() == 0
            assert all(one.membership.epochs[shard] == 1 for shard in leaving)  # so that its commits still succeed
            one.keeper.hold.set()
            await shared_out(one, two)
            assert two.mine() == leaving
            assert {two.membership.epochs[shard] for shard in leaving} == {2}


async def test_draining_daemon_hands_over_everything_and_the_lobby(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await until(one, lambda: one.membership.is_mine(LOBBY))
        async with joined(cluster_url, "two") as two:
            await shared_out(one, two)
            with trio.fail_after(PATIENCE):
                await one.membership.drain()
            assert not one.mine()
            await until(two, lambda: len(two.mine()) == SHARDS + 1)
            assert one.keeper.events[-2:] == [
                "losing 1",
                f"losing {SHARDS // 2}",
            ]  # games are served until the lobby has ended


async def test_daemon_alone_drains_at_once_and_its_shards_are_free(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        with trio.fail_after(PATIENCE):
            await one.membership.drain()
    with psycopg.connect(cluster_url) as connection:
        assert connection.execute("SELECT count(*) FROM shards WHERE daemon IS NOT NULL").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM daemons").fetchone() == (0,)


async def test_daemon_whose_lease_has_run_out_is_taken_over_and_fenced(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        async with joined(cluster_url, "two") as two:
            await shared_out(one, two)
            take_over(cluster_url, one.me)
            with trio.fail_after(PATIENCE):
                await one.membership.fenced.wait()
            assert not one.mine()
            with trio.fail_after(PATIENCE):
                await lapsed(one)
            with pytest.raises(Moved):
                await one.membership.lease_valid()
            await until(two, lambda: len(two.mine()) == SHARDS + 1)


async def test_daemon_that_finds_a_shard_with_another_owner_is_fenced(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        with psycopg.connect(cluster_url) as connection:
            connection.execute("UPDATE shards SET daemon = 1, epoch = epoch + 1 WHERE shard = 7")
        with trio.fail_after(PATIENCE):
            await one.membership.fenced.wait()
        assert not one.mine()
        with pytest.raises(Moved):  # also while its lease would be valid: nothing in memory may be shown any more
            await one.membership.lease_valid()


async def test_clock_of_the_database_that_jumps_takes_nothing_from_a_living_daemon(cluster_url: str) -> None:
    async with joined(cluster_url) as one, joined(cluster_url, "two") as two:
        await shared_out(one, two)
        with psycopg.connect(cluster_url, autocommit=True) as connection, trio.fail_after(PATIENCE):
            for _ in range(8):  # what a jump forward does to leases, until they are renewed
                connection.execute("UPDATE daemons SET until = until - interval '1 hour'")
                for member in (one, two):
                    await member.membership.renewed()
        assert not one.membership.fenced.is_set() | two.membership.fenced.is_set()
        await shared_out(one, two)


async def test_lease_is_renewed_at_another_server_when_one_takes_no_writes_any_more(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        connection = one.membership._renewals._connected()
        await trio.to_thread.run_sync(connection.execute, "SET default_transaction_read_only = on")
        with trio.fail_after(PATIENCE):
            for _ in range(2):
                await one.membership.renewed()
        assert one.games() == SHARDS


async def test_lease_is_renewed_while_a_change_of_the_map_takes_long(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        has_begun, is_done = ThreadEvent(), ThreadEvent()

        def change() -> bool:
            has_begun.set()
            return is_done.wait(PATIENCE)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.membership._changes.make, change)
            await trio.to_thread.run_sync(has_begun.wait)
            before = one.membership.valid_until
            with trio.fail_after(PATIENCE / 2):
                while one.membership.valid_until < before + LEASE_SECONDS:
                    await one.membership.renewed()
            is_done.set()
        assert "resumed" not in one.keeper.events
        assert not one.membership.fenced.is_set()


async def test_takeover_that_fails_is_made_on_a_new_connection(cluster_url: str) -> None:
    async with joined(cluster_url) as one, joined(cluster_url, "two") as two:
        await shared_out(one, two)
        with psycopg.connect(cluster_url) as commit:  # one that is under way in a shard of the dead daemon's
            commit.execute("SELECT 1 FROM shards WHERE daemon = %s FOR SHARE", (two.me,))
            await two.membership.stop()
            with trio.fail_after(PATIENCE):
                while not one.membership._is_failing:
                    await one.membership.renewed()
            assert one.games() == SHARDS // 2
        await until(one, lambda: one.games() == SHARDS)
        assert not one.membership.fenced.is_set()


async def test_daemon_whose_lease_thread_has_failed_serves_nothing_and_leaves(cluster_url: str) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with trio.fail_after(PATIENCE):
        async with joined(cluster_url) as one:
            await shared_out(one)
            one.membership._thread._work.put(fail)
            await one.membership.fenced.wait()
            assert not one.mine()


async def test_refused_write_fences_at_once_unless_it_is_of_an_earlier_epoch(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        epoch = one.membership.epochs[7]
        await trio.to_thread.run_sync(one.membership.refused, {7: epoch - 1})
        await trio.to_thread.run_sync(one.membership.refused, {})
        await trio.testing.wait_all_tasks_blocked()
        assert not one.membership.fenced.is_set()
        await trio.to_thread.run_sync(one.membership.refused, {7: epoch})
        with trio.fail_after(PATIENCE):
            await one.membership.fenced.wait()
        assert one.mine() == set()


@pytest.mark.long
async def test_lease_ends_locally_while_the_database_is_down_and_nobody_is_fenced_by_the_outage() -> None:
    with own_postgres() as server:
        url = server.new_database()
        create_tables(url)
        async with joined(url) as one, joined(url, "two") as two:
            await shared_out(one, two)
            await trio.to_thread.run_sync(server.stop, "immediate")
            with trio.fail_after(PATIENCE):
                for member in (one, two):
                    await lapsed(member)
            assert not one.mine() | two.mine()
            await trio.to_thread.run_sync(server.start)
            with trio.fail_after(PATIENCE):
                for member in (one, two):
                    await member.membership.lease_valid()
            await shared_out(one, two)
            assert not one.membership.fenced.is_set() | two.membership.fenced.is_set()
            assert {one.membership.epochs[shard] for shard in one.mine()} == {1}  # nobody has taken anything over


async def test_short_restart_of_the_database_costs_no_lease() -> None:
    with own_postgres() as server:
        url = server.new_database()
        create_tables(url)
        async with joined(url) as one:
            await shared_out(one)
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()"
                )
            with trio.fail_after(PATIENCE):
                for _ in range(2):  # the first may have been under way
                    await one.membership.renewed()
            assert one.games() == SHARDS
            async with joined(url, "two") as two:  # the notifications come again, too
                await shared_out(one, two)


async def test_expelled_daemon_is_fenced_and_its_shards_are_taken_over(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await until(one, lambda: one.membership.is_mine(LOBBY))
        async with joined(cluster_url, "two") as two:
            await shared_out(one, two)
            with pytest.raises(CannotExpel):  # only the lobby's owner may
                await two.membership.expel([one.me])
            await one.membership.expel([two.me])
            with trio.fail_after(PATIENCE):
                await two.membership.fenced.wait()
            assert not one.membership.fenced.is_set()
            await shared_out(one)


async def test_joining_daemon_gets_no_shards_before_it_has_settled(cluster_url: str) -> None:
    async with joined(cluster_url) as one:
        await shared_out(one)
        async with joined(cluster_url, "two", joining=True) as two:
            await until(one, lambda: two.me in one.membership.peers())
            assert one.membership.peers()[two.me].joining
            for _ in range(2):
                await two.membership.renewed()
            assert one.games() == SHARDS
            await two.membership.settle()
            await shared_out(one, two)


async def test_daemon_that_joins_nobody_gets_all_shards(cluster_url: str) -> None:
    async with joined(cluster_url, joining=True) as one:
        await until(one, lambda: len(one.mine()) == SHARDS + 1)
