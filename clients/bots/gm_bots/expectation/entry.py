"""The entry point of ``expectation``."""

from __future__ import annotations

from gm_arena.player_bot import PlayerBots

from .player import Expectation
from .settings import NAME, read


def make(**options: str) -> PlayerBots:
    """Return the bots for the entry point, each with a Stockfish of its own.

    :param options: as for :func:`~.settings.read`.
    """
    given = read(options)
    described = ",".join(f"{name}={value}" for name, value in options.items())
    return PlayerBots(
        f"{NAME}:{described}" if described else NAME, lambda rng: Expectation(given, rng), seed=given.seed
    )
