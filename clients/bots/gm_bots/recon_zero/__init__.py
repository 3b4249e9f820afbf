"""``recon-zero``: a bot for reconnaissance blind chess that learns by playing against itself.

Every module needs NumPy; only the network needs PyTorch, which is imported when it is first used. The bots' README
gives the order in which to read the files.

``ReconZero`` is the bot as a player of the package reconchess; its module is imported when the name is first used.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reconchess_player import ReconZero as ReconZero

_PLAYER = "ReconZero"


def __dir__() -> list[str]:
    """List the player, too, if reconchess is installed: ``reconchess.load_player`` looks through this list."""
    return sorted({*globals(), *([_PLAYER] if find_spec("reconchess") else [])})


if not TYPE_CHECKING:  # otherwise mypy would accept any name from this module

    def __getattr__(name: str) -> object:
        if name != _PLAYER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .reconchess_player import ReconZero

        return ReconZero
