"""The shard map and its share-out: fair, stable, and with as few moves as possible."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from gmd.cluster.shard_map import Member, Shard, ShardMap, targets
from gmd.cluster.shards import LOBBY, SHARDS, shard_of

DAEMONS = st.sets(st.integers(1, 12), max_size=9)
OWNERS = st.lists(st.none() | st.integers(1, 12), min_size=1, max_size=SHARDS)


def a_map(owners: list[int | None], daemons: set[int], lobby: Shard | None = None) -> ShardMap:
    """Return a map of living daemons."""
    filled = [*owners, *[None] * (SHARDS - len(owners))]
    shards = [Shard(owner, 1) for owner in filled]
    return ShardMap({daemon: Member(daemon) for daemon in daemons}, [*shards, lobby or Shard()])


def test_games_of_one_shard_are_256_apart_and_the_lobby_has_no_game() -> None:
    assert shard_of(7) == shard_of(7 + SHARDS) == 7
    assert LOBBY not in {shard_of(game_id) for game_id in range(1, 1000)}


@given(OWNERS, DAEMONS)
def test_shares_differ_by_one_at_most(owners: list[int | None], daemons: set[int]) -> None:
    found = targets(owners, daemons)
    if not daemons:
        assert set(found) == {None}
        return
    counts = Counter(found)
    assert set(counts) <= daemons
    shares = [counts[daemon] for daemon in daemons]
    assert max(shares) - min(shares) <= 1
    assert sum(shares) == len(owners)


@given(OWNERS, DAEMONS)
def test_share_out_is_stable_and_moves_as_few_shards_as_possible(owners: list[int | None], daemons: set[int]) -> None:
    found = targets(owners, daemons)
    assert targets(found, daemons) == found
    assert targets(owners, sorted(daemons, reverse=True)) == found
    if not daemons:
        return
    least, larger = divmod(len(owners), len(daemons))
    owned = sorted((owners.count(daemon) for daemon in daemons), reverse=True)
    keep = sum(min(count, least + (place < larger)) for place, count in enumerate(owned))
    assert sum(owner == after for owner, after in zip(owners, found, strict=True)) == keep


def test_joining_daemon_gets_its_share_and_nothing_else_moves() -> None:
    alone = targets([None] * SHARDS, [1])
    both = targets(alone, [1, 2])
    assert both == [1, 2] * 128
    three = targets(both, [1, 2, 3])
    assert sum(before != after for before, after in zip(both, three, strict=True)) == 85


def test_shards_of_a_dead_daemon_are_not_taken_before_its_row_is_removed() -> None:
    owners: list[int | None] = [1] * 128 + [2] * 128
    seen = a_map(owners, {1, 2})
    dead = ShardMap({1: Member(1), 2: Member(2, lapsed=True)}, seen.shards)
    assert dead.lapsed
    assert dead.owner_of(200) is None
    assert dead.plan(1).take == {LOBBY}
    freed = a_map([1] * 128, {1})
    assert freed.plan(1).take == {*range(128, SHARDS), LOBBY}


def test_draining_daemon_gives_away_everything_and_takes_nothing() -> None:
    seen = a_map([1] * 128 + [2] * 128, {1, 2}, lobby=Shard(1, 1))
    draining = ShardMap({**seen.members, 1: Member(1, draining=True)}, seen.shards)
    assert draining.plan(1) == (set(), dict.fromkeys([*range(128), LOBBY], 2))
    assert draining.plan(2) == (set(), {})


def test_lobby_stays_where_it_is_when_daemons_join() -> None:
    seen = a_map([7] * SHARDS, {7, 2, 3}, lobby=Shard(7, 1))
    assert LOBBY not in seen.plan(7).give


def test_daemon_alone_that_drains_has_nobody_to_give_to() -> None:
    seen = ShardMap({1: Member(1, draining=True)}, [Shard(1, 1)] * (SHARDS + 1))
    assert seen.plan(1) == (set(), {})


@given(st.data())
def test_daemons_with_old_views_of_the_map_come_to_an_even_share_out(data: st.DataObject) -> None:
    daemons: set[int] = set(data.draw(st.sets(st.integers(1, 9), min_size=1, max_size=6)))
    owners = data.draw(st.lists(st.none() | st.sampled_from(sorted(daemons)), min_size=SHARDS, max_size=SHARDS))
    now = a_map(owners, daemons)
    views = dict.fromkeys(daemons, now)
    for _ in range(data.draw(st.integers(0, 20))):
        me = data.draw(st.sampled_from(sorted(daemons)))
        if data.draw(st.booleans()):
            views[me] = now
        now = after(now, me, views[me])
    rounds = 0
    while any(any(now.plan(me)) for me in daemons):
        for me in sorted(daemons):
            now = after(now, me, now)
        rounds += 1
        assert rounds <= 3
    counts = Counter(shard.daemon for shard in now.shards[:SHARDS])
    assert set(counts) == daemons
    assert max(counts.values()) - min(counts.values()) <= 1
    assert now.owner_of(LOBBY) in daemons


def after(now: ShardMap, me: int, view: ShardMap) -> ShardMap:
    """Return the map after a daemon's plan, made from a view that may be old, as far as the database allows it."""
    plan, shards = view.plan(me), list(now.shards)
    for number in plan.take:
        if shards[number].daemon is None:
            shards[number] = Shard(me, shards[number].epoch + 1)
    for number, to in plan.give.items():
        if shards[number].daemon == me:
            shards[number] = Shard(to, shards[number].epoch + 1)
    return ShardMap(now.members, shards)
