"""Shards: the parts of all games that are owned together."""

from __future__ import annotations

from collections.abc import Callable, Container

#: The number of shards of games. It is in the database: the shard of a game never changes.
SHARDS = 256
#: The shard of what is not a game: the lobby, accounts, contests and pruning.
LOBBY = 256


def shard_of(game_id: int) -> int:
    """Return the shard of a game, 0 to SHARDS - 1."""
    return game_id % SHARDS


def of_shards(shards: Container[int]) -> Callable[[int], bool]:
    """Return a function that says whether a game is in one of these shards."""
    return lambda game_id: shard_of(game_id) in shards
