"""Leases and fencing on a real PostgreSQL: at any order of events a shard has one owner in each epoch."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from threading import Thread

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from gmd.cluster.leases import Fenced, Leases, new_daemon_id
from gmd.cluster.shard_map import Member
from tests.cluster.members import create_tables
from tests.helpers_proof import proof_size
from tests.postgres import new_database

#: The shards of these tests.
FEW = range(4)
SUBSETS = st.sets(st.sampled_from(FEW), min_size=1)
ACTORS = st.integers(0, 3)

_WRITES = "CREATE TABLE writes (shard int, epoch bigint, daemon bigint)"
#: As a group commit does: the owner's row is locked, and nothing is written if it is another's.
_WRITE = """
    WITH owned AS (SELECT shard, epoch, daemon FROM shards WHERE shard = %s AND daemon = %s AND epoch = %s FOR SHARE)
    INSERT INTO writes SELECT shard, epoch, daemon FROM owned
"""


class Actor:
    """A daemon that may be stopped at any time, and goes on later with what it believed before."""

    def __init__(self, url: str) -> None:
        self.leases = Leases(url, new_daemon_id())
        self.leases.join(Member(0, "link", "game"))
        self.epochs: dict[int, int] = {}

    def renew(self) -> None:
        """Renew the lease, and note which shards are ours."""
        seen = self.leases.renew()
        self.epochs = {shard: seen.shards[shard].epoch for shard in seen.of(self.leases.me)}

    def take(self, shards: set[int]) -> None:
        self.epochs |= {change.shard: change.epoch for change in self.leases.take(shards)}

    def give(self, shards: set[int], to: int) -> None:
        self.leases.want(dict.fromkeys(shards, to))
        for change in self.leases.hand_over(shards):
            self.epochs.pop(change.shard, None)

    def write(self, shard: int, connection: psycopg.Connection) -> bool:
        """Write in a shard that it believes to own; return whether that is acknowledged."""
        arguments = (shard, self.leases.me, self.epochs.get(shard, 0))
        return connection.execute(_WRITE, arguments).rowcount > 0


class LeasesMachine(RuleBasedStateMachine):
    """Daemons join, die, are taken over, hand over, and go on with old beliefs."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.connection = self.stack.enter_context(psycopg.connect(self.url, autocommit=True))
        self.connection.execute("DELETE FROM daemons; DELETE FROM writes; UPDATE shards SET daemon = NULL, epoch = 0")
        self.actors: list[Actor] = []
        self.owners: dict[tuple[int, int], int | None] = {}
        self.epochs = dict.fromkeys(FEW, 0)
        for _ in range(2):
            self.join()

    def teardown(self) -> None:
        for actor in self.actors:
            actor.leases.close()
        self.stack.close()

    @rule()
    def join(self) -> None:
        if len(self.actors) < 4:
            self.actors.append(Actor(self.url))
            self.stack.callback(self.actors[-1].leases.close)

    @rule(number=ACTORS)
    def renew(self, number: int) -> None:
        with suppress(Fenced):
            self.actor(number).renew()

    @rule(number=ACTORS)
    def lapse(self, number: int) -> None:
        daemon = self.actor(number).leases.me
        self.connection.execute("UPDATE daemons SET until = clock_timestamp() WHERE daemon = %s", (daemon,))

    @rule(number=ACTORS)
    def take_over(self, number: int) -> None:
        self.actor(number).leases.take_over([each.leases.me for each in self.actors])

    @rule(number=ACTORS, shards=SUBSETS)
    def take(self, number: int, shards: set[int]) -> None:
        with suppress(Fenced):
            self.actor(number).take(shards)

    @rule(number=ACTORS, to=ACTORS, shards=SUBSETS)
    def give(self, number: int, to: int, shards: set[int]) -> None:
        self.actor(number).give(shards, self.actor(to).leases.me)

    @rule(number=ACTORS)
    def leave(self, number: int) -> None:
        self.actor(number).leases.leave()

    @rule(number=ACTORS, shard=st.sampled_from(FEW))
    def write(self, number: int, shard: int) -> None:
        actor = self.actor(number)
        if actor.write(shard, self.connection):
            assert self.owners[shard, actor.epochs[shard]] == actor.leases.me

    def actor(self, number: int) -> Actor:
        return self.actors[number % len(self.actors)]

    @invariant()
    def shard_has_one_owner_in_each_epoch(self) -> None:
        for shard, epoch, daemon in self.connection.execute("SELECT shard, epoch, daemon FROM shards WHERE shard < 4"):
            assert epoch >= self.epochs[shard]
            assert self.owners.setdefault((shard, epoch), daemon) == daemon
            self.epochs[shard] = epoch

    @invariant()
    def owner_is_a_member(self) -> None:
        query = "SELECT count(*) FROM shards WHERE daemon IS NOT NULL AND daemon NOT IN (SELECT daemon FROM daemons)"
        assert self.connection.execute(query).fetchone() == (0,)

    @invariant()
    def no_two_daemons_believe_to_own_a_shard_in_the_same_epoch(self) -> None:
        beliefs = [(shard, epoch) for actor in self.actors for shard, epoch in actor.epochs.items()]
        assert len(beliefs) == len(set(beliefs))


@pytest.fixture(scope="module")
def leases_url() -> Iterator[str]:
    """Return the URL of a database with the tables, and one for writes."""
    with new_database() as url:
        create_tables(url)
        with psycopg.connect(url) as connection:
            connection.execute(_WRITES)
        yield url


@pytest.mark.proof
def test_every_acknowledged_write_is_by_the_owner_in_any_order_of_events(leases_url: str) -> None:
    class Machine(LeasesMachine):
        url = leases_url

    run_state_machine_as_test(Machine, settings=settings(max_examples=proof_size(20, 300), stateful_step_count=30))


@pytest.mark.proof
def test_daemons_at_the_same_time_never_write_in_the_same_epoch(leases_url: str) -> None:
    with psycopg.connect(leases_url, autocommit=True) as connection:
        connection.execute("DELETE FROM daemons; DELETE FROM writes; UPDATE shards SET daemon = NULL, epoch = 0")
        rounds = proof_size(150, 2_000)
        written = [0] * 4
        threads = [Thread(target=_live, args=(leases_url, number, rounds, written)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        query = "SELECT shard, epoch FROM writes GROUP BY shard, epoch HAVING count(DISTINCT daemon) > 1"
        assert connection.execute(query).fetchall() == []
        assert connection.execute("SELECT count(*) FROM writes").fetchone() == (sum(written),)
        assert sum(written) > rounds / 10


def _live(url: str, number: int, rounds: int, written: list[int]) -> None:
    """Do what daemons do, at random, and kill others' leases."""
    chance = random.Random(number)
    actor = Actor(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(rounds):
            with suppress(psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
                try:
                    written[number] += _act(actor, chance, connection)
                except Fenced:
                    actor.leases.close()
                    actor = Actor(url)
    actor.leases.close()


def _act(actor: Actor, chance: random.Random, connection: psycopg.Connection) -> bool:
    shards = {shard for shard in FEW if chance.random() < 0.5}
    match chance.choices(("write", "take", "renew", "over", "give", "lapse"), (60, 20, 10, 10, 5, 3))[0]:
        case "write":
            return actor.write(chance.choice(FEW), connection)
        case "take":
            actor.take(shards)
        case "renew":
            actor.renew()
        case "over":
            actor.leases.take_over([each for (each,) in connection.execute("SELECT daemon FROM daemons")])
        case "give":
            others = [each for (each,) in connection.execute("SELECT daemon FROM daemons")]
            actor.give(shards, chance.choice([*others, actor.leases.me]))
        case "lapse":
            connection.execute(
                "UPDATE daemons SET until = clock_timestamp() WHERE daemon = (SELECT min(daemon) FROM daemons)"
            )
    return False
