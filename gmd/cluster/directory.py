"""The interface to the daemons of a cluster: which there are, and which owns what."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol


class Peer(NamedTuple):
    """The addresses of a living daemon, as host:port that others use.

    :ivar link: of its port for links.
    :ivar game: of its game port, for the hint ``home``.
    :ivar http: of its HTTP port; None where HTTP is off.
    :ivar joining: whether it waits until the lobby's owner has reached it: it owns nothing, and serves nobody.
    """

    link: str
    game: str
    http: str | None = None
    joining: bool = False


class CannotExpel(Exception):
    """An error: daemons were not expelled, or nobody knows whether they were."""


class Directory(Protocol):
    """Who is who. The real one follows the leases in the database; tests have a static one.

    :ivar me: the id of this daemon, which it has drawn at random when it joined.
    """

    me: int

    @property
    def epochs(self) -> Mapping[int, int]:
        """The epoch of each shard that this daemon owns, also while its lease is not valid."""

    def owner_of(self, shard: int) -> int | None:
        """Return the daemon that owns a shard; None while nobody does."""

    def is_mine(self, shard: int) -> bool:
        """Return whether this daemon owns a shard, does not hand it over, and its lease is valid now."""

    def ready(self) -> Collection[int]:
        """Return the shards that this daemon serves while its lease is valid."""

    @property
    def lease_seconds(self) -> float:
        """The rest of this daemon's lease in seconds; 0 once it has run out."""

    def peers(self) -> Mapping[int, Peer]:
        """Return all living daemons by their ids, this one among them."""

    async def changed(self) -> None:
        """Return at the next change: of an owner, or of the living daemons."""

    async def expel(self, daemons: Collection[int]) -> None:
        """Stop daemons from renewing their leases; this one must own the lobby. They are fenced, and may join anew.

        :raises CannotExpel: it failed; try again.
        """

    async def lease_valid(self) -> None:
        """Return as soon as the lease of this daemon is valid: at once, or after the next renewal."""
