"""``recon-zero``: a bot for reconnaissance blind chess that learns by playing against itself.

Every module needs NumPy; only the network needs PyTorch, which is imported when it is first used. The bots' README
gives the order in which to read the files.

The name ``ReconZero`` here is the bot as a player of the package reconchess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .player import ReconZero as ReconZero
else:
    from gm_bots.reconchess_players import offered

    __dir__, __getattr__ = offered("gm_bots.recon_zero.player", "ReconZero", globals())
