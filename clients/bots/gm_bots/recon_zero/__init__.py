"""``recon-zero``: a bot for reconnaissance blind chess that learns by playing against itself.

NumPy is needed for all of it; PyTorch for the network alone, and nothing imports it before it is used. The bots' README
says in which order the files are to be read.

``ReconZero`` is the bot as a player of the package reconchess, which is imported when somebody asks for it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reconchess_player import ReconZero as ReconZero

_PLAYER = "ReconZero"


def __dir__() -> list[str]:
    """List the player, too, where reconchess is installed: ``reconchess.load_player`` looks through this list."""
    return sorted({*globals(), *([_PLAYER] if find_spec("reconchess") else [])})


if not TYPE_CHECKING:  # else mypy would take every name for one of this module's

    def __getattr__(name: str) -> object:
        if name != _PLAYER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .reconchess_player import ReconZero

        return ReconZero
