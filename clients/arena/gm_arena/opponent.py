"""Bots by their names as opponents in :mod:`gm_env`'s environments. It needs the extra ``env``, and no server."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gm_env.player_opponent import Failing, PlayerOpponent
from gm_recon import Player

from .bot import Bots, BotUnusable
from .specs import bots_of

__all__ = ["BotOpponent", "players_of"]


class BotOpponent(PlayerOpponent):
    """A bot that is a player, by its name, without a clock::

        env = gymnasium.make("gm_env.gymnasium:gmd/RBC-v0", opponent=BotOpponent("minimax:depth=2"))

    Its games repeat if its name gives it a seed, as ``minimax:depth=2,seed=7`` does.
    """

    def __init__(self, bot: str | Bots, *, options: Mapping[str, str] | None = None, failing: Failing = "lose") -> None:
        """:param bot: its name, or what makes bots.
        :param options: those of the bot, beside the ones in its name.
        :raises BotUnusable: as for :func:`players_of`.
        """
        super().__init__(players_of(bot, options=options), seconds=None, failing=failing)


def players_of(bot: str | Bots, *, options: Mapping[str, str] | None = None) -> Callable[[], Player]:
    """Return what makes players (:class:`gm_recon.Player`), each for one game in this process.

    :param bot: a name as for ``gmd match``: ``random``, ``recon-zero:checkpoint=latest.pt``, ``reconchess:FILE``, or of
        another entry point of ``gmd.bots`` whose bots are :class:`~gm_arena.player_bot.PlayerBots`; or what makes bots.
    :raises BotUnusable: the text names no bot, or one that is no player of RBC.
    """
    if isinstance(bot, str):
        bot = bots_of(bot, options=options or {}, seconds=None, depth=None, nodes=None)
    if "rbc" not in bot.variants:
        raise BotUnusable(f"{bot.name} plays {', '.join(sorted(bot.variants))}, and not RBC")
    make: Callable[[], Player] | None = getattr(bot, "player", None)
    if make is None:
        raise BotUnusable(f"{bot.name} is no gm_recon.Player, and plays on a server only")
    return make
