"""Policies to start from: opponents, and actors in loops such as PettingZoo's.

Each is an :class:`gm_env.opponents.Opponent` that acts in many games at once, decides by what its seat observed alone,
and draws all that is random from its decisions. :class:`Actor` lets one of them play from observations.
"""

from ..opponents import play_randomly
from .actor import Actor
from .attacker import Attacker
from .greedy import Greedy

__all__ = ["Actor", "Attacker", "Greedy", "play_randomly"]
