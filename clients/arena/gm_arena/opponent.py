"""Bots by their names as opponents in :mod:`gm_env`'s environments. It needs the extra ``env``, and no server."""

from __future__ import annotations

from gm_env.player_opponent import Failing, PlayerOpponent

from .bot import Bots
from .specs import players_of

__all__ = ["BotOpponent"]


class BotOpponent(PlayerOpponent):
    """A bot that is a player, by its name, without a clock::

        env = gymnasium.make("gm_env.gymnasium:gmd/RBC-v0", opponent=BotOpponent("minimax:depth=2"))

    Its games repeat if its name gives it a seed, as ``minimax:depth=2,seed=7`` does.
    """

    def __init__(self, bot: str | Bots, *, failing: Failing = "lose") -> None:
        """:param bot: its name, or what makes bots.
        :raises BotUnusable: as for :func:`~gm_arena.specs.players_of`.
        """
        super().__init__(players_of(bot), seconds=None, failing=failing)
