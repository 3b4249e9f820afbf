"""A classical chess engine, to read and to play against.

``evaluation`` computes the value of a position, ``position`` makes and takes back moves, ``generation`` lists them,
``ordering`` sorts them, ``search`` searches, and ``engine`` is the interface for other code: its ``search`` takes a
board and a limit. ``uci`` speaks UCI, ``play`` is a game in the terminal, and ``bots`` plays on a server, blind
chess too, by one ``guess`` at the position. Importing the package imports none of these modules.

``Minimax`` is a player of blind chess for the package reconchess; its module is imported when the name is first used.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reconchess_player import Minimax as Minimax

_PLAYER = "Minimax"


def __dir__() -> list[str]:
    """List the player, too, if reconchess is installed: ``reconchess.load_player`` looks through this list."""
    return sorted({*globals(), *([_PLAYER] if find_spec("reconchess") else [])})


if not TYPE_CHECKING:  # otherwise mypy would accept any name from this module

    def __getattr__(name: str) -> object:
        if name != _PLAYER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .reconchess_player import Minimax

        return Minimax
