"""What a daemon owns, as its games see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gm_protocol.errors import Moved

from .shards import shard_of


class Tenure(Protocol):
    """The shards that a daemon owns and serves; :class:`~gmd.cluster.membership.Membership` is the real one."""

    @property
    def epochs(self) -> Mapping[int, int]:
        """The epoch of each shard that the daemon owns, also of those that it does not serve yet, or no longer."""

    def is_mine(self, shard: int) -> bool:
        """Return whether the daemon serves a shard: it owns it, does not hand it over, and its lease is valid now."""


class NotMine(Moved):
    """The game belongs to another daemon, or to nobody at the moment.

    :ivar game_id: the game.
    """

    def __init__(self, game_id: int) -> None:
        super().__init__(f"game {game_id} moves to another server; nothing was done, send the request again")
        self.game_id = game_id


def epoch_of(tenure: Tenure, game_id: int) -> int:
    """Return the epoch in which the daemon serves a game. While it stays the same, nobody else has owned the game.

    :raises NotMine: the daemon does not serve it.
    """
    shard = shard_of(game_id)
    if not tenure.is_mine(shard):
        raise NotMine(game_id)
    return tenure.epochs[shard]


def is_held(tenure: Tenure, game_id: int) -> bool:
    """Return whether the daemon owns a game, even if it does not serve it at the moment."""
    return shard_of(game_id) in tenure.epochs
