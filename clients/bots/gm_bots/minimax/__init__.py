"""A classical chess engine, to read and to play against.

``evaluation`` says what a position is worth, ``position`` makes and takes back moves, ``generation`` lists them,
``ordering`` says which to look at first, ``search`` looks ahead, ``engine`` is all of it to others: its ``search``
takes a board and a limit. ``uci`` speaks UCI, ``play`` is a game in the terminal, ``bots`` plays on a server, blind
chess too, by one ``guess`` at the position. Importing the package imports none of them.

``Minimax`` is the player of blind chess as a player of the package reconchess, which is imported when somebody asks for
it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reconchess_player import Minimax as Minimax

_PLAYER = "Minimax"


def __dir__() -> list[str]:
    """List the player, too, where reconchess is installed: ``reconchess.load_player`` looks through this list."""
    return sorted({*globals(), *([_PLAYER] if find_spec("reconchess") else [])})


if not TYPE_CHECKING:  # else mypy would take every name for one of this module's

    def __getattr__(name: str) -> object:
        if name != _PLAYER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .reconchess_player import Minimax

        return Minimax
