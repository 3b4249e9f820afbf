"""The fence around a daemon's writes: what it must own, by the database's word, for a write to happen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Fence(Protocol):
    """What a daemon believes to own. A write happens only if the database agrees in the same transaction.

    It is read in the thread that writes, and changed in trio's thread.
    """

    @property
    def daemon(self) -> int:
        """The daemon's id in the table of shards."""

    @property
    def epochs(self) -> Mapping[int, int]:
        """The epoch of each shard that the daemon owns, :data:`~gmd.cluster.shards.LOBBY` included.

        A changed mapping is a new one: the thread that writes may be reading this.
        """

    def refused(self, epochs: Mapping[int, int]) -> None:
        """Note that the database has refused a write, as it has other owners or epochs for these shards.

        Called in the thread that writes.

        :param epochs: the epochs in which this daemon believed to own them.
        """
