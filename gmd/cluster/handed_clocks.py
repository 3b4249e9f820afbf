"""The clocks of shards that are handed over, as one daemon sends them to another."""

from __future__ import annotations

from msgspec import Struct

from .link_messages import LinkMessage


class ShardClocks(Struct, array_like=True, frozen=True):
    """The clocks of a shard.

    :ivar epoch: the epoch that ends with the hand-over.
    :ivar seconds_left: the seconds left until the deadline of each game that has one.
    """

    epoch: int
    seconds_left: dict[int, float]


class HandedClocks(LinkMessage, frozen=True, gc=False):
    """The clocks of some shards that the receiver gets next."""

    shards: dict[int, ShardClocks]
