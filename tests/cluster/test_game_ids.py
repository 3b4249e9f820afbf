"""Ids of new games: never one twice, in the daemon's own shards, and in order where a daemon is alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.errors import Moved
from gmd.cluster.game_ids import GameIds
from gmd.cluster.shards import SHARDS, shard_of


def test_daemon_alone_counts_from_one() -> None:
    ids = GameIds()
    ids.gain(dict.fromkeys(range(SHARDS), 0))
    assert [ids() for _ in range(1000)] == list(range(1, 1001))


def test_daemon_alone_goes_on_after_the_highest_id() -> None:
    ids, used = GameIds(), range(1, 701)
    ids.gain({shard: max(filter(lambda used_id: shard_of(used_id) == shard, used)) for shard in range(SHARDS)})
    assert [ids() for _ in range(300)] == list(range(701, 1001))


def test_ids_of_removed_games_are_not_given_again() -> None:
    ids = GameIds()
    ids.gain(dict.fromkeys(range(SHARDS), 0), retired=1234)
    assert [ids() for _ in range(3)] == [1235, 1236, 1237]


def test_daemon_without_shards_makes_no_games() -> None:
    ids = GameIds()
    with pytest.raises(Moved):
        ids()
    ids.gain({3: 0})
    ids.lose([3])
    with pytest.raises(Moved):
        ids()
    ids.gain({3: 0})
    assert ids() == 3


@given(st.lists(st.tuples(st.sampled_from(("gain", "lose", "new")), st.sets(st.integers(0, 5))), max_size=60))
def test_ids_are_unique_and_in_own_shards_while_shards_come_and_go(steps: list[tuple[str, set[int]]]) -> None:
    ids, mine = GameIds(), set[int]()
    given_ids: set[int] = set()
    for what, shards in steps:
        if what == "gain":
            new = shards - mine
            highest = {shard: max((each for each in given_ids if shard_of(each) == shard), default=0) for shard in new}
            ids.gain(highest)
            mine |= new
        elif what == "lose":
            ids.lose(shards)
            mine -= shards
        elif mine:
            game_id = ids()
            assert game_id > 0
            assert game_id not in given_ids
            assert shard_of(game_id) in mine
            given_ids.add(game_id)
