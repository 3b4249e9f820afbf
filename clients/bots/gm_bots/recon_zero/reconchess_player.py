"""``recon-zero`` as a player that reads its options itself, as reconchess's programs need it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from gm_bots.options import from_environment

from .bot import ReconZeroPlayer
from .entry import WITHOUT, LibraryMissing, make
from .player import Player

if TYPE_CHECKING:
    from .sensing import Belief

#: The environment variable with the options of players made without any.
VARIABLE = "GM_RECON_ZERO"


class ReconZero(ReconZeroPlayer):
    """A player for one game after the other."""

    def __init__(self, **options: Any) -> None:
        """Load the network, before any clock runs.

        :param options: the options of ``recon-zero``, as numbers or text; options not given come from the variable
            ``GM_RECON_ZERO`` (``checkpoint=training/latest.pt,simulations=50``).
        :raises BotUnusable: an option is unknown, its value is not allowed, or a library is missing.
        :raises BotFailed: the checkpoint cannot be read.
        """
        given = {name: str(value) for name, value in options.items()}
        try:
            self._bots = make(**{**from_environment(VARIABLE), **given})
        except LibraryMissing as error:
            raise error.saying(f"{VARIABLE}=checkpoint={WITHOUT}") from None
        super().__init__(self._bots.seat(), random.Random(self._bots.seed), self._bots.seconds)

    def belief(self) -> Belief:
        """Return the belief about the opponent's pieces: shape (7, 8, 8), for pieces from pawn to king and none, rank,
        and file; each square's seven numbers sum to 1.
        """
        assert isinstance(self._thinking, Player)  # it thinks in this process
        return self._thinking.knowledge.belief()
