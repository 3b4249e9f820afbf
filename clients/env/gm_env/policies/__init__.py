"""Policies to start from: opponents, and players of loops such as PettingZoo's.

Each is an :class:`gm_env.opponents.Opponent` that acts in many games at once, decides by what its seat observed alone,
and draws all that is random from its decisions. :class:`Player` lets one of them play from observations.
"""

from ..opponents import play_randomly
from .attacker import Attacker
from .greedy import Greedy
from .player import Player

__all__ = ["Attacker", "Greedy", "Player", "play_randomly"]
