"""The shard map: which daemon owns which shard, and how the shards are to be shared out. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .shards import LOBBY, SHARDS


class Shard(NamedTuple):
    """A row of the map.

    :ivar daemon: the owner; None if the shard is free.
    :ivar epoch: the number of changes of owner so far: an owner's fencing token.
    :ivar wanted: the daemon to which the owner is handing the shard over.
    """

    daemon: int | None = None
    epoch: int = 0
    wanted: int | None = None


class Member(NamedTuple):
    """A daemon that has joined.

    :ivar link: host:port for other daemons; ``game`` and ``http`` for clients. Empty where it does not listen.
    :ivar draining: whether it is stopping: it hands its shards over and gets none.
    :ivar joining: whether the lobby's owner has not reached it yet: it gets no shards.
    :ivar lapsed: whether its lease had run out when the map was read.
    :ivar seconds: the rest of its lease at that time.
    :ivar until: the end of its lease in seconds since 1970, by the database's clock. Each renewal changes it.
    """

    daemon: int
    link: str = ""
    game: str = ""
    http: str = ""
    version: str = ""
    draining: bool = False
    joining: bool = False
    lapsed: bool = False
    seconds: float = 0.0
    until: float = 0.0


@dataclass(frozen=True)
class ShardMap:
    """The members by their ids, and the shards 0 to :data:`~gmd.cluster.shards.LOBBY` in order."""

    members: Mapping[int, Member] = field(default_factory=dict)
    shards: Sequence[Shard] = (Shard(),) * (SHARDS + 1)

    @cached_property
    def living(self) -> set[int]:
        """The daemons with a lease."""
        return {daemon for daemon, member in self.members.items() if not member.lapsed}

    @property
    def staying(self) -> set[int]:
        """The daemons with a lease that neither stop nor are joining still."""
        members = self.members
        return {daemon for daemon in self.living if not members[daemon].draining | members[daemon].joining}

    @property
    def lapsed(self) -> bool:
        """Whether some member's lease has run out, so that its shards can be taken over."""
        return any(member.lapsed for member in self.members.values())

    def owner_of(self, shard: int) -> int | None:
        """Return the owner of a shard if it has a lease; None otherwise."""
        daemon = self.shards[shard].daemon
        return daemon if daemon is not None and daemon in self.living else None

    def of(self, daemon: int) -> set[int]:
        """Return the shards that a daemon owns."""
        return {number for number, shard in enumerate(self.shards) if shard.daemon == daemon}

    def plan(self, me: int) -> Plan:
        """Return what a daemon has to do so that the shards are shared out evenly."""
        staying = self.staying
        expected = [_expected(shard, staying) for shard in self.shards]
        wanted: list[int | None] = [*targets(expected[:SHARDS], staying), expected[LOBBY]]
        if wanted[LOBBY] is None and staying:
            free = self.shards[LOBBY].daemon is None
            wanted[LOBBY] = me if free and me in staying else min(staying)  # the first that sees it free takes it
        pairs = list(enumerate(zip(self.shards, wanted, strict=True)))
        return Plan(
            {number for number, (shard, to) in pairs if shard.daemon is None and to == me},
            {number: to for number, (shard, to) in pairs if shard.daemon == me and to is not None and to != me},
        )


class Plan(NamedTuple):
    """What a daemon has to do: free shards to take, and its shards to hand over, each with its next owner."""

    take: set[int]
    give: dict[int, int]


def targets(owners: Sequence[int | None], daemons: Iterable[int]) -> list[int | None]:
    """Return the owner that each shard should have: an even share for each daemon, with as few moves as possible.

    Shares differ by one at most. The result depends on the arguments alone, and applied to itself it changes nothing.

    :param owners: the present owners; None, and those that are not among the daemons, count as free.
    :param daemons: those that shall own shards; if there are none, no shard has an owner.
    """
    shares: dict[int, list[int]] = {daemon: [] for daemon in daemons}
    free: list[int] = []
    for number, owner in enumerate(owners):
        shares.get(owner, free).append(number) if owner is not None else free.append(number)
    found: list[int | None] = [None] * len(owners)
    if not shares:
        return found
    least, larger = divmod(len(owners), len(shares))
    # Those that own most keep one more: that moves the fewest shards.
    for place, daemon in enumerate(sorted(shares, key=lambda daemon: (-len(shares[daemon]), daemon))):
        size = least + (place < larger)
        kept, given = _divided(shares[daemon], size)
        shares[daemon] = kept + [-1] * (size - len(kept))
        free += given
    spare = iter(sorted(free))
    for daemon in sorted(shares):
        for number in shares[daemon]:
            found[next(spare) if number < 0 else number] = daemon
    return found


def _divided(shards: Sequence[int], size: int) -> tuple[list[int], list[int]]:
    """Return the shards to keep, ``size`` at most, and the others: evenly mixed, as are the ids of successive games."""
    if len(shards) <= size:
        return list(shards), []
    kept = {place * len(shards) // size for place in range(size)}
    return (
        [shard for place, shard in enumerate(shards) if place in kept],
        [shard for place, shard in enumerate(shards) if place not in kept],
    )


def _expected(shard: Shard, daemons: Collection[int]) -> int | None:
    """Return who of some daemons owns a shard, or is about to."""
    for daemon in (shard.wanted, shard.daemon):
        if daemon is not None and daemon in daemons:
            return daemon
    return None
