"""A directory without leases: tests say who owns what, and which daemons live."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import count

import trio

from gmd.cluster.directory import Peer
from gmd.cluster.shards import LOBBY


class ClusterMap:
    """What the daemons of a test agree on.

    :ivar owners: the owner of each shard, the lobby's last; None for none.
    :ivar epochs: of the shards of each daemon.
    :ivar peers: the living daemons.
    """

    def __init__(self, daemons: Mapping[int, Peer]) -> None:
        """Share the shards out in turn; the first daemon has the lobby."""
        ids = [*daemons]
        self.peers = dict(daemons)
        self.owners: list[int | None] = [None] * (LOBBY + 1)
        self.epochs: dict[int | None, dict[int, int]] = {daemon: {} for daemon in ids}
        self._epochs = count(1)
        #: The last id of a game in each shard; 0 counts as had.
        self.last_ids = [shard - LOBBY if shard else 0 for shard in range(LOBBY)]
        self._change = trio.Event()
        for index, daemon in enumerate(ids):
            self.give(range(index, LOBBY, len(ids)), daemon)
        self.give([LOBBY], ids[0])

    def give(self, shards: Iterable[int], to: int | None) -> None:
        """Change the owner of shards. It tells nobody's arbiter; ``MemoryCluster.hand_over`` does."""
        for shard in shards:
            self.epochs.get(self.owners[shard], {}).pop(shard, None)
            self.owners[shard] = to
            if to is not None:
                self.epochs[to][shard] = next(self._epochs)
        self.tell()

    def tell(self) -> None:
        """Wake those who wait for a change."""
        change, self._change = self._change, trio.Event()
        change.set()

    async def changed(self) -> None:
        """Return at the next change."""
        await self._change.wait()


class StaticDirectory:
    """One daemon's view of the map.

    :ivar me: its id.
    :ivar leaving: the shards that it hands over.
    """

    def __init__(self, shared: ClusterMap, me: int) -> None:
        self.shared = shared
        self.me = me
        self.leaving: set[int] = set()
        self._lease = trio.Event()
        self._lease.set()

    @property
    def epochs(self) -> Mapping[int, int]:
        return self.shared.epochs[self.me]

    def owner_of(self, shard: int) -> int | None:
        return self.shared.owners[shard]

    def is_mine(self, shard: int) -> bool:
        return self.shared.owners[shard] == self.me and shard not in self.leaving and self._lease.is_set()

    def ready(self) -> set[int]:
        return {shard for shard, owner in enumerate(self.shared.owners) if owner == self.me} - self.leaving

    @property
    def lease_seconds(self) -> float:
        return 1.0 if self._lease.is_set() else 0.0

    def peers(self) -> Mapping[int, Peer]:
        return self.shared.peers

    async def changed(self) -> None:
        await self.shared.changed()

    async def expel(self, daemons: Collection[int]) -> None:
        for daemon in daemons:
            self.shared.peers.pop(daemon)
            heir = next(iter(self.shared.peers)) if daemon == self.me else self.me
            self.shared.give([shard for shard, owner in enumerate(self.shared.owners) if owner == daemon], heir)

    async def lease_valid(self) -> None:
        await self._lease.wait()

    def suspend(self) -> None:
        """Let the lease be invalid."""
        self._lease = trio.Event()

    def renew(self) -> None:
        """Let it be valid again."""
        self._lease.set()
